import { describe, expect, it } from 'vitest';
import { addInstructions, hasInstructions, removeInstructions } from './instructions.ts';

function added(text: string): string {
  const result = addInstructions(text);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function removed(text: string): string {
  const result = removeInstructions(text);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

describe('the block for agents', () => {
  it.each(['', '# Rules\n', '# Rules\n\n', '# Rules\r\n\r\nBe kind.\r\n', 'one line'])(
    'is added once to %j',
    (text) => {
      const once = added(text);
      expect(once.startsWith(text)).toBe(true);
      expect(hasInstructions(once)).toBe(true);
      expect(added(once)).toBe(once);
      expect(removed(once).trimEnd()).toBe(text.trimEnd());
    },
  );

  it('says what seed 000 asks of an agent, in the words of the commands', () => {
    const text = added('');
    for (const words of ['[wk-3f2a]', 'Context: 31.6% (63,153/200,000 tokens)', 'spawn-track add', 'handoff', 'Nonce'])
      expect(text).toContain(words);
    expect(text).toMatch(/^[\x0a\x20-\x7e]+$/);
  });

  it('of another version is replaced, and nothing around it is touched', () => {
    const old = 'before\r\n<!-- watchkeeper:begin v0 -->\r\nold words\r\n<!-- watchkeeper:end -->\r\nafter\r\n';
    const now = added(old);
    expect(now).not.toContain('old words');
    expect(now.startsWith('before\r\n<!-- watchkeeper:begin v1 -->\r\n')).toBe(true);
    expect(now.endsWith('<!-- watchkeeper:end -->\r\nafter\r\n')).toBe(true);
    expect(removed(now)).toBe('before\r\nafter\r\n');
  });

  it('uses the line ends of the file', () => expect(added('# Rules\r\n').replaceAll('\r\n', '')).not.toContain('\n'));

  it.each([
    '<!-- watchkeeper:begin v1 -->\nhalf\n',
    'half\n<!-- watchkeeper:end -->\n',
    '<!-- watchkeeper:end -->\n<!-- watchkeeper:begin v1 -->\n',
    `${added('')}${added('')}`,
  ])('with marks that do not belong together is left to a human', (text) => {
    expect(addInstructions(text)).toMatchObject({ ok: false, reason: 'broken-block' });
    expect(removeInstructions(text)).toMatchObject({ ok: false, reason: 'broken-block' });
  });

  it('is not taken for one where the marks are only spoken of', () => {
    expect(hasInstructions('The mark is `<!-- watchkeeper:begin v1 -->`.\n')).toBe(false);
  });
});
