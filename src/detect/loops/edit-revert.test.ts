import { describe, expect, it } from 'vitest';
import { run } from '../../../test/runs/scripted-run.ts';

describe('edit-revert', () => {
  it('raises nothing for one correction', () =>
    expect(run().edit('a', 'x', 'y').edit('a', 'y', 'x').edit('a', 'x', 'z').edit('b', 'y', 'x').found()).toEqual([]));

  it('raises nothing for edits that failed', () =>
    expect(
      run()
        .times(4, (r) => r.edit('a', 'x', 'y', 'not found', true).edit('a', 'y', 'x', 'not found', true))
        .found(),
    ).not.toContain('edit-revert'));

  it('raises an edit that is put in and taken out again and again', () =>
    expect(
      run()
        .times(3, (r) => r.edit('a', 'x', 'y').bash('npm test', 'failed', true).edit('a', 'y', 'x'))
        .found(),
    ).toContain('edit-revert'));
});
