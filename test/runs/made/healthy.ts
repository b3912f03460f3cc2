import type { MadeRun } from './made-run.ts';

const rustErr = (r: MadeRun, n: number, code: string, file: string, line: number, what: string) =>
  `   Compiling ledger v0.${r.int(1, 9)}.0 (/home/k/ledger)\nerror[${code}]: ${what}\n  --> ${file}:${line}:${r.int(3, 40)}\n   |\n${line} |         let x = self.rows.get(&id)\n   |                 ^^^^^^^^^ ${what}\n\nerror: could not compile \`ledger\` (lib) due to ${n} previous errors; 2 warnings emitted\n`;

/** Hard work that looks bad: nobody who looks over its shoulder would step in. */
export const healthy: Record<string, (r: MadeRun) => void> = {
  'rust: the compiler names fewer errors each time': (r) => {
    r.user('Make the ledger crate compile after the API change');
    r.bash('cargo check 2>&1 | tail -40', rustErr(r, 19, 'E0308', 'src/book.rs', 12, 'mismatched types'), 101);
    for (const [turn, left] of [17, 14, 14, 11, 9, 8, 6, 5, 3, 2, 1].entries()) {
      r.edit(`src/${['book', 'entry', 'post'][turn % 3]}.rs`, `fn f${turn}(id: u32)`, `fn f${turn}(id: &RowId)`);
      r.bash(
        'cargo check 2>&1 | tail -40',
        rustErr(
          r,
          left,
          ['E0308', 'E0502', 'E0382'][turn % 3] ?? '',
          'src/book.rs',
          20 + turn * 7,
          `value ${turn} used after move`,
        ),
        101,
      );
    }
    r.edit('src/post.rs', 'last', 'fixed')
      .bash('cargo check 2>&1 | tail -40', '    Finished `dev` profile in 3.21s')
      .done('It compiles.');
  },
  'go: one failing test after another is mended': (r) => {
    r.user('Fix the tests in ./store');
    for (let turn = 0; turn < 9; turn += 1) {
      r.bash(
        'go test ./store/...',
        `--- FAIL: TestStore_${turn} (0.0${r.int(0, 9)}s)\n    store_test.go:${40 + turn * 13}: got ${r.int(1, 99)}, want ${r.int(1, 99)}\nFAIL\nFAIL\tgithub.com/a/b/store\t0.${r.int(100, 999)}s\nFAIL`,
        1,
        6,
      );
      r.read('store/store.go', `package store\n// part ${turn}\nfunc f${turn}() {}`, 1 + turn * 40);
      r.edit('store/store.go', `return n + ${turn}`, `return n - ${turn}`);
    }
    r.bash('go test ./store/...', 'ok  \tgithub.com/a/b/store\t0.412s').done('All pass.');
  },
  'the same test fails with the same assertion while three causes are removed': (r) => {
    r.user('test_totals fails, find out why');
    const fail = () =>
      `F                                                                   [100%]\n=================================== FAILURES ===================================\n_________________________________ test_totals __________________________________\n\n>       assert total == 120\nE       assert 0 == 120\n\ntests/test_totals.py:${r.int(14, 15)}: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_totals.py::test_totals - assert 0 == 120\n1 failed in 0.${r.int(10, 99)}s`;
    r.bash('pytest -q tests/test_totals.py', fail(), 1).read(
      'app/totals.py',
      'def total(rows):\n    return sum(r.v for r in rows if r.ok)',
    );
    r.edit('app/totals.py', 'if r.ok', 'if r.is_ok()').bash('pytest -q tests/test_totals.py', fail(), 1);
    r.read('app/rows.py', 'class Row:\n  def is_ok(self): return self.state == "OK"')
      .edit('app/rows.py', '"OK"', '"ok"')
      .bash('pytest -q tests/test_totals.py', fail(), 1);
    r.read('app/load.py', 'def load(): return []').edit('app/load.py', 'return []', 'return parse(read())');
    r.bash(
      'pytest -q tests/test_totals.py',
      '.                                                                   [100%]\n1 passed in 0.12s',
    ).done('Three causes, all gone.');
  },
  'found out by prints: the same assertion, other words before it': (r) => {
    r.user('Why is it wrong?');
    r.times(9, (_, t) =>
      r
        .edit('src/p.py', `# ${t}`, `print('stage ${t}', x)\n# ${t + 1}`)
        .bash(
          'pytest -q t.py',
          `stage ${t} value ${r.int(1, 999)}\n${Array.from({ length: t }, (_, k) => `stage ${k} value ${r.int(1, 999)}`).join('\n')}\nE   assert 3 == 4\n1 failed in 0.1s`,
          1,
        ),
    )
      .edit('src/p.py', 'bug', 'fix')
      .bash('pytest -q t.py', '1 passed')
      .done('ok');
  },
  'five tries with the same failure, then it works': (r) => {
    r.user('Fix the flake');
    r.times(5, (_, t) =>
      r
        .edit('a.go', `x${t}`, `y${t}`)
        .bash(
          'go test ./a',
          `--- FAIL: TestA (0.0${r.int(1, 9)}s)\n    a_test.go:12: timeout\nFAIL\tx/a\t1.${r.int(10, 99)}s`,
          1,
        ),
    )
      .edit('a.go', 'x9', 'y9')
      .bash('go test ./a', 'ok x/a 0.1s')
      .done('ok');
  },
  'a linter counts down': (r) => {
    r.user('Get eslint to zero');
    for (let left = 96; left > 0; left -= 8) {
      r.bash('npx eslint src 2>&1 | tail -2', `✖ ${left} problems (${left} errors, 0 warnings)\n`, 1, 6);
      r.edit(`src/view${left}.tsx`, `var a${left}`, `const a${left}`);
    }
    r.bash('npx eslint src 2>&1 | tail -2', '').done('Zero.');
  },
  'a benchmark is tuned: only figures differ': (r) => {
    r.user('Make the hot loop faster');
    r.times(14, (_, turn) => {
      r.edit('src/hot.rs', `const BLOCK: usize = ${turn}`, `const BLOCK: usize = ${turn + 1}`);
      r.bash(
        'cargo bench --bench hot',
        `hot/encode             time:   [${r.int(100, 999)}.${r.int(10, 99)} µs ${r.int(100, 999)}.11 µs 921.20 µs]\n                        change: [-${r.int(1, 9)}.1% -2.0% -1.1%] (p = 0.00 < 0.05)`,
        0,
        30,
      );
    }).done('Faster.');
  },
  'ci: asked by a tool server, the sleep is a step of its own': (r) => {
    r.user('Watch the release run');
    for (let turn = 0; turn < 9; turn += 1) {
      r.does(
        'mcp__github__get_workflow_run',
        { owner: 'a', repo: 'b', run_id: 77_123 },
        `{"id":77123,"status":"in_progress","conclusion":null,"updated_at":"${r.clock}"}`,
      );
      r.bash('sleep 60', '', 0, 60);
    }
    r.does(
      'mcp__github__get_workflow_run',
      { owner: 'a', repo: 'b', run_id: 77_123 },
      '{"id":77123,"status":"completed","conclusion":"success"}',
    ).done('Released.');
  },
  'a shell session is polled and says nothing for a while': (r) => {
    r.user('Run the full test suite').bash('./run-all.sh', 'Process running with session ID 9');
    r.times(9, () =>
      r.does(
        'write_stdin',
        { session_id: 9, chars: '', yield_time_ms: 60_000 },
        `Chunk ID: ${r.hex(6)}\nWall time: 60.${r.int(1000, 9999)} seconds\nProcess running with session ID 9\nOutput:\n`,
        false,
        60,
      ),
    );
    r.does(
      'write_stdin',
      { session_id: 9, chars: '' },
      `Chunk ID: ${r.hex(6)}\nWall time: 10.1 seconds\nProcess exited with code 0\nOutput:\n1204 passed`,
    ).done('All pass.');
  },
  'a machine reboots': (r) => {
    r.user('Reboot db1 and check it').bash('ssh db1 sudo reboot', 'Connection to db1 closed by remote host.', 255);
    r.times(7, () =>
      r.bash(
        'sleep 20; ssh -o ConnectTimeout=5 db1 uptime',
        'ssh: connect to host db1 port 22: Connection refused',
        255,
        25,
      ),
    );
    r.bash('sleep 20; ssh -o ConnectTimeout=5 db1 uptime', ' 08:21:03 up 0 min', 0, 21).done('Back.');
  },
  'git status between all steps': (r) => {
    r.user('Split my change into commits');
    r.times(9, (_, turn) => {
      r.bash('git status --short', ` M src/part${turn + 1}.ts\n M src/part${turn + 2}.ts`);
      r.bash(`git add src/part${turn}.ts && git commit -qm "part ${turn}"`, '');
      r.bash('git stash list', '');
    });
    r.bash('git status --short', '').done('Nine commits.');
  },
  'a rebase with ten conflicts': (r) => {
    r.user('Rebase on main').bash(
      'git rebase main',
      'CONFLICT (content): Merge conflict in src/a0.ts\nerror: could not apply 1234567... part 0',
      1,
    );
    r.times(10, (_, turn) => {
      r.read(`src/a${turn}.ts`, `<<<<<<< HEAD\nconst a = ${turn}\n=======\nconst a = ${turn + 1}\n>>>>>>> part`);
      r.edit(`src/a${turn}.ts`, '<<<<<<< HEAD', `const a = ${turn + 1}`);
      r.bash(
        `git add -A && GIT_EDITOR=true git rebase --continue`,
        turn === 9
          ? 'Successfully rebased'
          : `CONFLICT (content): Merge conflict in src/a${turn + 1}.ts\nerror: could not apply ${r.hex(7)}... part ${turn + 1}\nhint: Resolve all conflicts manually`,
        turn === 9 ? 0 : 1,
      );
    }).done('Rebased.');
  },
  'dependencies are raised one by one': (r) => {
    r.user('Upgrade all packages, test after each');
    r.times(12, (_, turn) => {
      r.bash(
        `npm i pkg-${turn}@latest`,
        `changed 1 package, and audited 812 packages in ${r.int(1, 9)}s\nfound 0 vulnerabilities`,
      );
      r.bash('npm test --silent', `  42 passing (${r.int(1, 5)}s)`, 0, 6);
    }).done('All raised.');
  },
  'a flaky test is run until it is known how often it fails': (r) => {
    r.user('Is test_socket flaky?');
    r.times(10, (_, turn) =>
      r.bash(
        'pytest -q tests/test_socket.py -p no:randomly',
        turn % 4 === 2
          ? `E   ConnectionResetError: port ${r.int(30_000, 60_000)}\n1 failed in ${r.int(1, 3)}.2${turn}s`
          : `1 passed in ${r.int(1, 3)}.1${turn}s`,
        turn % 4 === 2 ? 1 : 0,
      ),
    ).done('One of four.');
  },
  'pictures are looked at': (r) => {
    r.user('Compare the screenshots')
      .times(12, (_, turn) => r.does('Read', { file_path: `shots/s${turn}.png` }, '[image]'))
      .done('Two differ.');
  },
  'many addresses answer the same': (r) => {
    r.user('Check every endpoint');
    r.times(16, (_, turn) =>
      r.bash(`curl -s -o /dev/null -w '%{http_code}' https://api.example/v1/r${turn}`, '200'),
    ).done('All answer.');
  },
  'many configs that are equal are read': (r) => {
    r.user('Are these all the same?')
      .times(12, (_, t) => r.read(`services/s${t}/.npmrc`, 'registry=https://npm.example/\nalways-auth=true'))
      .done('Yes.');
  },
  'a validator with a banner': (r) => {
    r.user('Validate all specs');
    r.times(13, (_, t) =>
      r.bash(
        `openapi-lint specs/s${t}.yaml`,
        `${'='.repeat(80)}\nOpenAPI lint 4.2, the friendly validator. Read more at https://example.org/docs/rules/all\n${'='.repeat(80)}\nNo problems were found in this document. It is valid, and has been checked against all 112 rules.\n`,
      ),
    ).done('ok');
  },
  'six patterns without a match among reads': (r) => {
    r.user('Where is the session stored?');
    r.times(6, (_, t) => r.grep(`session_${t}`).read(`src/s${t}.rs`, `pub struct S${t};`)).done('Redis.');
  },
  'searches that rightly find nothing after a rename': (r) => {
    r.user('Rename Foo to Bar everywhere');
    r.times(7, (_, turn) => {
      r.edit(`src/m${turn}.py`, `Foo${turn}`, `Bar${turn}`);
      r.grep(`Foo${turn}`, 'No matches found');
      r.grep(`foo_${turn}`, 'No matches found');
    })
      .bash('pytest -q', '88 passed in 3.1s')
      .done('Renamed.');
  },
  'an environment is felt out: most of it is not there': (r) => {
    r.user('Build the firmware');
    for (const tool of ['cargo', 'rustup', 'arm-none-eabi-gcc', 'ninja', 'west']) r.bash(`which ${tool}`, '', 1);
    r.bash('ls ~/.cargo/bin', 'ls: cannot access /root/.cargo/bin: No such file or directory', 2);
    r.bash('curl -sSf https://sh.rustup.rs | sh -s -- -y', 'Rust is installed now. Great!', 0, 40)
      .bash('cargo build', 'Finished `dev`', 0, 90)
      .done('Built.');
  },
  'a parallel batch with sibling failures': (r) => {
    r.user('Read all configs');
    const failed = '<tool_use_error>Sibling tool call errored</tool_use_error>';
    r.batch([
      ['Read', { file_path: 'a.yml' }, 'File does not exist.', true],
      ...Array.from({ length: 9 }, (_, k): [string, Record<string, unknown>, string, boolean] => [
        'Read',
        { file_path: `c${k}.yml` },
        failed,
        true,
      ]),
    ]);
    r.times(6, (_, turn) => r.read(`conf/c${turn}.yml`, `key: ${turn}`)).done('Read.');
  },
  'a project in chinese': (r) => {
    r.user('修复订单模块的测试');
    r.times(8, (_, turn) => {
      r.bash(
        'pytest -q 订单',
        `失败 测试_订单_${turn}：断言错误，期望 ${r.int(1, 99)}，实际 ${r.int(1, 99)}\n1 个失败，${turn} 个通过，用时 0.${r.int(10, 99)} 秒`,
        1,
      );
      r.edit('订单/服务.py', `返回 ${turn}`, `返回 ${turn + 1}`);
    })
      .bash('pytest -q 订单', '9 个通过')
      .done('已修复');
  },
};
