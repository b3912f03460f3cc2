import type { MadeRun } from './made-run.ts';

type Make = (r: MadeRun) => void;
const rustErr = (r: MadeRun, n: number, code: string, file: string, line: number, what: string) =>
  `   Compiling ledger v0.${r.int(1, 9)}.0 (/home/k/ledger)\nerror[${code}]: ${what}\n  --> ${file}:${line}:${r.int(3, 40)}\n   |\n${line} |         let x = self.rows.get(&id)\n   |                 ^^^^^^^^^ ${what}\n\nerror: could not compile \`ledger\` (lib) due to ${n} previous errors; 2 warnings emitted\n`;

export const healthy: Record<string, Make> = {
  'rust: the compiler names fewer errors each time': (r) => {
    r.user('Make the ledger crate compile after the API change');
    r.bash('cargo check 2>&1 | tail -40', rustErr(r, 19, 'E0308', 'src/book.rs', 12, 'mismatched types'), 101);
    for (const [turn, left] of [17, 14, 14, 11, 9, 8, 6, 5, 3, 2, 1].entries()) {
      r.edit(`src/${['book', 'entry', 'post'][turn % 3]}.rs`, `fn f${turn}(id: u32)`, `fn f${turn}(id: &RowId)`);
      r.bash('cargo check 2>&1 | tail -40', rustErr(r, left, ['E0308', 'E0502', 'E0382'][turn % 3] ?? '', 'src/book.rs', 20 + turn * 7, `value ${turn} used after move`), 101);
    }
    r.edit('src/post.rs', 'last', 'fixed').bash('cargo check 2>&1 | tail -40', '    Finished `dev` profile in 3.21s').done('It compiles.');
  },
  'go: one failing test after another is mended': (r) => {
    r.user('Fix the tests in ./store');
    for (let turn = 0; turn < 9; turn += 1) {
      r.bash('go test ./store/...', `--- FAIL: TestStore_${turn} (0.0${r.int(0, 9)}s)\n    store_test.go:${40 + turn * 13}: got ${r.int(1, 99)}, want ${r.int(1, 99)}\nFAIL\nFAIL\tgithub.com/a/b/store\t0.${r.int(100, 999)}s\nFAIL`, 1, 6);
      r.read('store/store.go', `package store\n// part ${turn}\nfunc f${turn}() {}`, 1 + turn * 40);
      r.edit('store/store.go', `return n + ${turn}`, `return n - ${turn}`);
    }
    r.bash('go test ./store/...', 'ok  \tgithub.com/a/b/store\t0.412s').done('All pass.');
  },
  'the same test fails with the same assertion while three causes are removed': (r) => {
    r.user('test_totals fails, find out why');
    const fail = () => `F                                                                   [100%]\n=================================== FAILURES ===================================\n_________________________________ test_totals __________________________________\n\n>       assert total == 120\nE       assert 0 == 120\n\ntests/test_totals.py:${r.int(14, 15)}: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_totals.py::test_totals - assert 0 == 120\n1 failed in 0.${r.int(10, 99)}s`;
    r.bash('pytest -q tests/test_totals.py', fail(), 1).read('app/totals.py', 'def total(rows):\n    return sum(r.v for r in rows if r.ok)');
    r.edit('app/totals.py', 'if r.ok', 'if r.is_ok()').bash('pytest -q tests/test_totals.py', fail(), 1);
    r.read('app/rows.py', 'class Row:\n  def is_ok(self): return self.state == "OK"').edit('app/rows.py', '"OK"', '"ok"').bash('pytest -q tests/test_totals.py', fail(), 1);
    r.read('app/load.py', 'def load(): return []').edit('app/load.py', 'return []', 'return parse(read())');
    r.bash('pytest -q tests/test_totals.py', '.                                                                   [100%]\n1 passed in 0.12s').done('Three causes, all gone.');
  },
  'java: one file is edited thirty times, each time elsewhere': (r) => {
    r.user('Replace the deprecated date API everywhere in Invoice.java');
    for (let turn = 0; turn < 30; turn += 1) {
      r.edit('src/main/java/Invoice.java', `new Date(year${turn})`, `LocalDate.ofYear(year${turn})`);
      if (turn % 6 === 5) r.bash('mvn -q -o compile', '', 0, 14);
    }
    r.bash('mvn -q -o test', '[INFO] Tests run: 88, Failures: 0', 0, 40).done('Done');
  },
  'c++: a long build is watched by the end of its log': (r) => {
    r.user('Build it and tell me when it is through');
    r.bash('cmake --build build -j2 > build.log 2>&1 &', '');
    for (let turn = 0; turn < 22; turn += 1) {
      r.bash('sleep 45; tail -3 build.log', `[${turn * 4 + 3}%] Building CXX object src/CMakeFiles/core.dir/unit${turn * 9}.cpp.o\n[${turn * 4 + 4}%] Building CXX object src/CMakeFiles/core.dir/unit${turn * 9 + 1}.cpp.o`, 0, 45);
    }
    r.bash('tail -3 build.log', '[100%] Built target core').done('Built.');
  },
  'terraform: plan, mend, plan; apply with its ticking': (r) => {
    r.user('Bring staging to the new module version');
    for (let turn = 0; turn < 6; turn += 1) {
      r.bash('terraform plan -no-color', `\u001b[31m╷\u001b[0m\n│ Error: Unsupported argument\n│ \n│   on main.tf line ${12 + turn * 4}, in module "net${turn}":\n│   An argument named "cidr_${turn}" is not expected here.\n╵`, 1, 8);
      r.edit('main.tf', `cidr_${turn} = var.c`, `ipv4_${turn} = var.c`);
    }
    r.bash('terraform plan -no-color', 'Plan: 6 to add, 2 to change, 0 to destroy.', 0, 9);
    r.bash('terraform apply -auto-approve', Array.from({ length: 20 }, (_, s) => `aws_db_instance.main: Still creating... [${s}0s elapsed]`).join('\n'), 0, 210).done('Applied');
  },
  'notebook: data is looked at from many sides': (r) => {
    r.user('What drives churn in this data?');
    for (let turn = 0; turn < 18; turn += 1) {
      r.bash(`python - <<'EOF'\nimport pandas as pd\ndf = pd.read_parquet('churn.parquet')\nprint(df.groupby('f${turn}').churned.mean())\nEOF`, `f${turn}\na    0.${r.int(100, 999)}\nb    0.${r.int(100, 999)}\nName: churned, dtype: float64`, 0, 5);
      if (turn % 5 === 4) r.does('NotebookEdit', { notebook_path: 'churn.ipynb', new_source: `plot(${turn})`, cell_id: `c${turn}` }, `Updated cell c${turn}`);
    }
    r.done('Contract length.');
  },
  'ci: twelve looks, all the same, until it is green': (r) => {
    r.user('Push and wait for CI').bash('git push', 'To github.com:a/b.git\n   1a2b3c4..5d6e7f8  main -> main');
    for (let turn = 0; turn < 12; turn += 1) {
      r.bash('sleep 90 && gh pr checks 88', 'build\tpending\t0\thttps://github.com/a/b/actions/runs/771\nlint\tpass\t31s\thttps://github.com/a/b/actions/runs/772', 8, 92);
    }
    r.bash('gh pr checks 88', 'build\tpass\t18m2s\nlint\tpass\t31s').done('Green.');
  },
  'ci: asked by a tool server, the sleep is a step of its own': (r) => {
    r.user('Watch the release run');
    for (let turn = 0; turn < 9; turn += 1) {
      r.does('mcp__github__get_workflow_run', { owner: 'a', repo: 'b', run_id: 77_123 }, `{"id":77123,"status":"in_progress","conclusion":null,"updated_at":"${r.clock}"}`);
      r.bash('sleep 60', '', 0, 60);
    }
    r.does('mcp__github__get_workflow_run', { owner: 'a', repo: 'b', run_id: 77_123 }, '{"id":77123,"status":"completed","conclusion":"success"}').done('Released.');
  },
  'logs of a container that go on': (r) => {
    r.user('See whether the import goes through');
    r.times(14, (_, turn) => r.bash('docker logs --tail 4 importer', Array.from({ length: 4 }, (_, k) => `${r.clock} INFO imported batch ${turn * 40 + k} rows=${r.int(100, 900)}`).join('\n')).wait(20));
    r.done('Going well.');
  },
  'network: installs fail three times and then go through': (r) => {
    r.user('Set the project up');
    r.times(3, () => r.bash('npm ci', `npm error code ETIMEDOUT\nnpm error network request to https://registry.example/left-pad failed\nnpm error A complete log of this run can be found in: /home/u/.npm/_logs/${r.clock}-debug-0.log`, 1, 62).wait(15));
    r.bash('npm ci', 'added 812 packages in 41s', 0, 42).bash('npm test', '42 passing (3s)').done('Ready.');
  },
  'git bisect, twelve steps': (r) => {
    r.user('Find the commit that broke the parser');
    r.bash('git bisect start HEAD v3.1', 'status: waiting for good commit');
    for (let turn = 0; turn < 12; turn += 1) {
      r.bash('make -s && ./run-tests parser', turn % 2 ? 'ok 31 - parser' : 'not ok 31 - parser', turn % 2 ? 0 : 1, 20);
      r.bash(`git bisect ${turn % 2 ? 'good' : 'bad'}`, `Bisecting: ${2 ** (11 - turn)} revisions left to test after this (roughly ${11 - turn} steps)\n[${r.hex(40)}] parser: step ${turn}`);
    }
    r.done('It is 4f1c.');
  },
  'a python prompt behind an MCP server': (r) => {
    r.user('Explore the API of this library interactively');
    r.times(16, (_, turn) => r.does('mcp__repl__eval', { code: `client.method_${turn}(x=${turn})` }, turn % 3 === 2 ? `TypeError: method_${turn}() got an unexpected keyword argument 'x'` : `<Result ${turn} at 0x${r.hex(12)}>`, turn % 3 === 2));
    r.done('I know it now.');
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
  'one large file is read in pieces': (r) => {
    r.user('Understand the scheduler').times(20, (_, turn) => r.read('kernel/sched.c', Array.from({ length: 6 }, (_, k) => `${turn * 200 + k}\tstatic int sched_${turn}_${k}(struct rq *rq)`).join('\n'), 1 + turn * 200)).done('Understood.');
  },
  'many similar files are written': (r) => {
    r.user('Make one fixture per country');
    r.times(26, (_, turn) => r.write(`fixtures/country_${turn}.json`, `{"id": ${turn}, "vat": ${r.int(5, 25)}}`)).bash('ls fixtures | wc -l', '26').done('Written.');
  },
  'searches with new words that find something': (r) => {
    r.user('Where is the tax computed?');
    r.times(15, (_, turn) => r.grep(`tax_${turn}`, turn % 4 === 3 ? 'No matches found' : `src/tax/m${turn}.py:${r.int(1, 400)}:def tax_${turn}(row):`)).done('In tax/.');
  },
  'a parallel batch with sibling failures': (r) => {
    r.user('Read all configs');
    const failed = '<tool_use_error>Sibling tool call errored</tool_use_error>';
    r.batch([['Read', { file_path: 'a.yml' }, 'File does not exist.', true], ...Array.from({ length: 9 }, (_, k): [string, Record<string, unknown>, string, boolean] => ['Read', { file_path: `c${k}.yml` }, failed, true])]);
    r.times(6, (_, turn) => r.read(`conf/c${turn}.yml`, `key: ${turn}`)).done('Read.');
  },
  'test first, eight times': (r) => {
    r.user('Build the parser test first');
    r.times(8, (_, turn) => {
      r.edit('test/parser.test.ts', '// end', `it('parses ${turn}')\n// end`);
      r.bash('npx vitest run parser', ` FAIL  test/parser.test.ts > parses ${turn}\nAssertionError: expected undefined to be ${turn}\n Test Files  1 failed (1)\n      Tests  1 failed | ${turn} passed (${turn + 1})\n   Duration  ${r.int(300, 900)}ms`, 1, 4);
      r.edit('src/parser.ts', '// more', `case ${turn}: return ${turn}\n// more`);
      r.bash('npx vitest run parser', ` ✓ test/parser.test.ts (${turn + 1} tests) ${r.int(3, 9)}ms\n Test Files  1 passed (1)\n   Duration  ${r.int(300, 900)}ms`, 0, 4);
    }).done('Built.');
  },
  'a person refuses five times and then lets it go on': (r) => {
    r.user('Clean up the branches');
    r.times(5, (_, turn) => {
      r.does('Bash', { command: `git branch -D old${turn}` }, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).", true);
      r.interrupted().user(`not that one, ask about ${turn} first`);
    });
    r.bash('git branch -D old9', 'Deleted branch old9').done('Done');
  },
  'a list of what is to be done is kept': (r) => {
    r.user('Do the whole checklist');
    r.times(12, (_, turn) => {
      r.does('TodoWrite', { todos: [{ content: `item ${turn}`, status: 'in_progress' }] }, 'Todos have been modified successfully. Ensure that you continue to use the todo list.');
      r.write(`src/item${turn}.go`, `package item // ${turn}`);
    }).done('All ticked.');
  },
  'a linter counts down': (r) => {
    r.user('Get eslint to zero');
    for (let left = 96; left > 0; left -= 8) {
      r.bash('npx eslint src 2>&1 | tail -2', `✖ ${left} problems (${left} errors, 0 warnings)\n`, 1, 6);
      r.edit(`src/view${left}.tsx`, `var a${left}`, `const a${left}`);
    }
    r.bash('npx eslint src 2>&1 | tail -2', '').done('Zero.');
  },
  'shell commands that say nothing and do something': (r) => {
    r.user('Move the packages into the new layout');
    r.times(20, (_, turn) => r.bash(turn % 2 ? `git mv pkg/m${turn} services/m${turn}/src` : `sed -i 's#pkg/m${turn}#services/m${turn}#' go.work`, '')).bash('go build ./...', '', 0, 20).done('Moved.');
  },
  'pods come up': (r) => {
    r.user('Roll out and wait').bash('kubectl apply -f k8s/', 'deployment.apps/web configured');
    r.times(10, (_, turn) => r.bash('kubectl get pods -l app=web', `NAME                   READY   STATUS              RESTARTS   AGE\nweb-7f9c6d5b8-x${r.hex(4)}   0/1     ContainerCreating   0          ${turn * 10 + 4}s`, 0, 10));
    r.bash('kubectl get pods -l app=web', 'web-7f9c6d5b8-xk2   1/1   Running   0   2m').done('Up.');
  },
  'research on the web': (r) => {
    r.user('Which vector index fits?');
    r.times(12, (_, turn) => {
      r.does('WebSearch', { query: `hnsw ivf comparison ${turn}` }, `Links: [{"title":"Paper ${turn}","url":"https://ex.org/${turn}"},{"title":"Blog ${turn}","url":"https://b.org/${turn * 7}"}]`);
      r.does('WebFetch', { url: `https://ex.org/${turn}`, prompt: 'summarise' }, `The page describes approach ${turn} with recall 0.${r.int(80, 99)}.`);
    }).done('HNSW.');
  },
  'searches that rightly find nothing after a rename': (r) => {
    r.user('Rename Foo to Bar everywhere');
    r.times(7, (_, turn) => {
      r.edit(`src/m${turn}.py`, `Foo${turn}`, `Bar${turn}`);
      r.grep(`Foo${turn}`, 'No matches found');
      r.grep(`foo_${turn}`, 'No matches found');
    }).bash('pytest -q', '88 passed in 3.1s').done('Renamed.');
  },
  'a last look that nothing is left': (r) => {
    r.user('Is any trace of the old client left?');
    r.times(6, (_, turn) => r.grep(['OldClient', 'old_client', 'oldClient', 'old-client', 'OLD_CLIENT', 'legacyClient'][turn] ?? '', 'No matches found', '.')).done('Nothing is left.');
  },
  'gdb: other addresses, other frames': (r) => {
    r.user('Find the segfault');
    r.times(12, (_, turn) => r.bash(`gdb -batch -ex 'b parse_${turn}' -ex run -ex bt ./app`, `Breakpoint 1, parse_${turn} (p=0x${r.hex(12)}) at parse.c:${40 + turn}\n#0  parse_${turn} (p=0x${r.hex(12)})\n#1  0x${r.hex(12)} in main ()`)).done('Found.');
  },
  'sql: some questions have no rows': (r) => {
    r.user('Which orders are wrong?');
    r.times(14, (_, turn) => r.bash(`psql -c "select * from orders where state = '${turn}' and t > ${turn}"`, turn % 2 ? ' id | state \n----+-------\n(0 rows)\n' : ` id | state \n----+-------\n ${r.int(1, 9999)} | ${turn}\n(1 row)\n`)).done('Seven.');
  },
  'a benchmark is tuned: only figures differ': (r) => {
    r.user('Make the hot loop faster');
    r.times(14, (_, turn) => {
      r.edit('src/hot.rs', `const BLOCK: usize = ${turn}`, `const BLOCK: usize = ${turn + 1}`);
      r.bash('cargo bench --bench hot', `hot/encode             time:   [${r.int(100, 999)}.${r.int(10, 99)} µs ${r.int(100, 999)}.11 µs 921.20 µs]\n                        change: [-${r.int(1, 9)}.1% -2.0% -1.1%] (p = 0.00 < 0.05)`, 0, 30);
    }).done('Faster.');
  },
  'training with other rates, no edits': (r) => {
    r.user('Find a good learning rate');
    r.times(14, (_, turn) => r.bash(`python train.py --lr ${(turn + 1) / 1000} --epochs 2`, `epoch 1 loss ${r.int(1, 3)}.${r.int(1000, 9999)} acc 0.${r.int(50, 90)}\nepoch 2 loss 0.${r.int(1000, 9999)} acc 0.${r.int(50, 95)}\nsaved to /tmp/run-${r.hex(8)}`, 0, 60)).done('0.004.');
  },
  'pictures are looked at': (r) => {
    r.user('Compare the screenshots').times(12, (_, turn) => r.does('Read', { file_path: `shots/s${turn}.png` }, '[image]')).done('Two differ.');
  },
  'helpers search in parallel': (r) => {
    r.user('Audit all packages');
    const id = r.call('Task', { description: 'audit', prompt: 'look at everything', subagent_type: 'Explore' });
    r.side((s) => s.times(14, (_, turn) => s.grep(`unsafe_${turn}`, turn % 2 ? 'No matches found' : `lib/x${turn}.c:12: unsafe_${turn}`)));
    r.result(id, 'Task', 'Seven places.').done('Seven.');
  },
  'files are read again after a compaction': (r) => {
    r.user('Refactor auth');
    r.times(5, (_, turn) => r.read(`src/auth/f${turn}.ts`, `export const f${turn} = 1`)).compacted();
    r.times(5, (_, turn) => r.read(`src/auth/f${turn}.ts`, `export const f${turn} = 1`));
    r.times(5, (_, turn) => r.edit(`src/auth/f${turn}.ts`, '1', '2')).done('Done');
  },
  'a person asks for the same again and again': (r) => {
    r.times(7, () => r.user('run it again').bash('make demo', 'hello, world').done('It says hello.'));
  },
  'a project in chinese': (r) => {
    r.user('修复订单模块的测试');
    r.times(8, (_, turn) => {
      r.bash('pytest -q 订单', `失败 测试_订单_${turn}：断言错误，期望 ${r.int(1, 99)}，实际 ${r.int(1, 99)}\n1 个失败，${turn} 个通过，用时 0.${r.int(10, 99)} 秒`, 1);
      r.edit('订单/服务.py', `返回 ${turn}`, `返回 ${turn + 1}`);
    }).bash('pytest -q 订单', '9 个通过').done('已修复');
  },
  'a shell session is polled and says more each time': (r) => {
    r.user('Run the migration').bash('./migrate.sh', 'Process running with session ID 4');
    r.times(12, (_, turn) => r.does('write_stdin', { session_id: 4, chars: '' }, `Chunk ID: ${r.hex(6)}\nWall time: 30.${r.int(1000, 9999)} seconds\nProcess running with session ID 4\nOutput:\nmigrated table ${turn} of 12`, false, 30)).done('Migrated.');
  },
  'a shell session is polled and says nothing for a while': (r) => {
    r.user('Run the full test suite').bash('./run-all.sh', 'Process running with session ID 9');
    r.times(9, () => r.does('write_stdin', { session_id: 9, chars: '', yield_time_ms: 60_000 }, `Chunk ID: ${r.hex(6)}\nWall time: 60.${r.int(1000, 9999)} seconds\nProcess running with session ID 9\nOutput:\n`, false, 60));
    r.does('write_stdin', { session_id: 9, chars: '' }, `Chunk ID: ${r.hex(6)}\nWall time: 10.1 seconds\nProcess exited with code 0\nOutput:\n1204 passed`).done('All pass.');
  },
  'a background task is asked for its output': (r) => {
    r.user('Start the server and try it').bash('npm run dev &', 'Command running in background with ID: b71');
    r.times(5, () => r.does('BashOutput', { bash_id: 'b71' }, '<status>running</status>\n\n<timestamp>' + r.clock + '</timestamp>').wait(15));
    r.does('BashOutput', { bash_id: 'b71' }, '<status>running</status>\n<stdout>ready on :3000</stdout>').bash('curl -s localhost:3000', '<html>').done('Up.');
  },
  'a browser is driven': (r) => {
    r.user('Test the checkout');
    r.times(14, (_, turn) => {
      r.does('mcp__playwright__browser_click', { element: `button ${turn}`, ref: `e${turn * 3}` }, `### Ran Playwright code\nawait page.getByRole('button', { name: 'b${turn}' }).click();\n### Page state\n- Page URL: http://localhost:${r.int(3000, 9000)}/step/${turn}`);
      if (turn % 3 === 0) r.does('mcp__playwright__browser_snapshot', {}, `- Page Title: Step ${turn}\n- generic [ref=e${turn}]: Total ${r.int(1, 99)} EUR`);
    }).done('Works.');
  },
  'many addresses answer the same': (r) => {
    r.user('Check every endpoint');
    r.times(16, (_, turn) => r.bash(`curl -s -o /dev/null -w '%{http_code}' https://api.example/v1/r${turn}`, '200')).done('All answer.');
  },
  'many files are valid': (r) => {
    r.user('Validate all of them').times(16, (_, turn) => r.bash(`xmllint --noout data/f${turn}.xml && echo ok`, 'ok')).done('All valid.');
  },
  'a rebase with ten conflicts': (r) => {
    r.user('Rebase on main').bash('git rebase main', 'CONFLICT (content): Merge conflict in src/a0.ts\nerror: could not apply 1234567... part 0', 1);
    r.times(10, (_, turn) => {
      r.read(`src/a${turn}.ts`, `<<<<<<< HEAD\nconst a = ${turn}\n=======\nconst a = ${turn + 1}\n>>>>>>> part`);
      r.edit(`src/a${turn}.ts`, '<<<<<<< HEAD', `const a = ${turn + 1}`);
      r.bash(`git add -A && GIT_EDITOR=true git rebase --continue`, turn === 9 ? 'Successfully rebased' : `CONFLICT (content): Merge conflict in src/a${turn + 1}.ts\nerror: could not apply ${r.hex(7)}... part ${turn + 1}\nhint: Resolve all conflicts manually`, turn === 9 ? 0 : 1);
    }).done('Rebased.');
  },
  'dependencies are raised one by one': (r) => {
    r.user('Upgrade all packages, test after each');
    r.times(12, (_, turn) => {
      r.bash(`npm i pkg-${turn}@latest`, `changed 1 package, and audited 812 packages in ${r.int(1, 9)}s\nfound 0 vulnerabilities`);
      r.bash('npm test --silent', `  42 passing (${r.int(1, 5)}s)`, 0, 6);
    }).done('All raised.');
  },
  'type errors counted': (r) => {
    r.user('Get tsc to pass');
    for (const left of [214, 201, 190, 171, 166, 120, 96, 51, 12, 0]) {
      r.bash('npx tsc --noEmit | wc -l', `${left}`);
      if (left > 0) r.does('MultiEdit', { file_path: `src/t${left}.ts`, edits: [{ old_string: `any${left}`, new_string: 'unknown' }] }, 'Applied 4 edits');
    }
    r.done('Clean.');
  },
  'an environment is felt out: most of it is not there': (r) => {
    r.user('Build the firmware');
    for (const tool of ['cargo', 'rustup', 'arm-none-eabi-gcc', 'ninja', 'west']) r.bash(`which ${tool}`, '', 1);
    r.bash('ls ~/.cargo/bin', 'ls: cannot access /root/.cargo/bin: No such file or directory', 2);
    r.bash('curl -sSf https://sh.rustup.rs | sh -s -- -y', 'Rust is installed now. Great!', 0, 40).bash('cargo build', 'Finished `dev`', 0, 90).done('Built.');
  },
  'a machine reboots': (r) => {
    r.user('Reboot db1 and check it').bash('ssh db1 sudo reboot', 'Connection to db1 closed by remote host.', 255);
    r.times(7, () => r.bash('sleep 20; ssh -o ConnectTimeout=5 db1 uptime', 'ssh: connect to host db1 port 22: Connection refused', 255, 25));
    r.bash('sleep 20; ssh -o ConnectTimeout=5 db1 uptime', ' 08:21:03 up 0 min', 0, 21).done('Back.');
  },
  'a review: forty files are read': (r) => {
    r.user('Review the branch').times(40, (_, turn) => r.read(`src/mod${turn}/index.ts`, `export const v${turn} = ${r.int(1, 99)}`)).done('Fine.');
  },
  'edit, look, edit, look': (r) => {
    r.user('Lay out the page');
    r.times(14, (_, turn) => {
      r.edit('web/index.css', `gap: ${turn}px`, `gap: ${turn + 2}px`);
      r.read('web/index.css', `.grid { gap: ${turn + 2}px; }\n.card { margin: ${turn}px }`);
      r.does('mcp__browser__screenshot', {}, '[image]');
    }).done('Better.');
  },
  'a job in a queue': (r) => {
    r.user('Submit and wait').bash('sbatch run.sh', 'Submitted batch job 8812');
    r.times(11, (_, turn) => r.bash('sleep 120; squeue -j 8812', `JOBID PARTITION NAME USER ST TIME NODES\n8812 gpu run.sh k R ${turn * 2}:0${r.int(1, 9)} 1`, 0, 121));
    r.bash('cat slurm-8812.out', 'accuracy 0.91').done('0.91.');
  },
  'files that talk about limits and errors': (r) => {
    r.user('Document the retry behaviour');
    r.times(12, (_, turn) => r.read(`docs/errors/${turn}.md`, `# ${['Limits', 'Retries', 'Timeouts', 'Quota', 'Auth', 'Outage', 'Billing', 'Proxy', 'Tokens', 'Stream', 'Batch', 'Files'][turn]}\nError: 429 Too Many Requests. rate limit reached. Traceback ${turn}. FAILED: cannot connect. overloaded_error`)).done('The client answers 429 "rate limit exceeded" and retries.');
  },
  'a verbose model that says sorry and goes on': (r) => {
    r.user('Port the module to Kotlin');
    r.times(10, (_, turn) => {
      r.says(`I apologize for the confusion! You're absolutely right. Let me carefully think about part ${turn} and do it properly this time.`);
      r.edit(`src/P${turn}.kt`, `val a${turn}`, `val b${turn}`);
      r.bash(`gradle :p${turn}:test`, `> Task :p${turn}:test\nBUILD SUCCESSFUL in ${r.int(2, 9)}s`, 0, 9);
    }).done('Ported.');
  },
  'commits refused by a hook that asks for one thing after another': (r) => {
    r.user('Commit it');
    for (const [turn, rule] of ['trailing whitespace', 'end of files', 'check yaml', 'ruff', 'mypy', 'bandit'].entries()) {
      r.bash('git commit -am "change"', `${rule}.......................................Failed\n- hook id: ${rule}\n- duration: 0.${r.int(10, 99)}s\n\nsrc/a.py:${turn}: fix me`, 1);
      r.edit('src/a.py', `line ${turn}`, `line  ${turn}`);
    }
    r.bash('git commit -am "change"', '[main 12ab34c] change').done('Committed.');
  },
  'fuzzing with other seeds': (r) => {
    r.user('Fuzz the decoder');
    r.times(12, (_, turn) => r.bash(`./fuzz -seed=${turn} -runs=100000`, `#100000 DONE cov: ${r.int(300, 900)} ft: ${r.int(900, 2000)} corp: ${r.int(10, 99)}/${r.int(100, 999)}b exec/s: ${r.int(9000, 12000)} rss: ${r.int(30, 60)}Mb`, 0, 40)).done('No crash.');
  },
  'a translation of many strings by patches to one file': (r) => {
    r.user('Translate de.json');
    r.times(24, (_, turn) => r.edit('i18n/de.json', `"k${turn}": ""`, `"k${turn}": "Wort ${turn}"`)).done('Translated.');
  },
  'ansible: every host once': (r) => {
    r.user('Patch the fleet');
    r.times(14, (_, turn) => r.bash(`ansible-playbook -l host${turn} patch.yml`, `PLAY RECAP ****\nhost${turn} : ok=12 changed=${r.int(0, 3)} unreachable=0 failed=0`, 0, 30)).done('Patched.');
  },
  'the same build breaks, each time elsewhere, the last lines are equal': (r) => {
    r.user('Port to the new compiler');
    r.times(10, (_, turn) => {
      r.bash('make -j4 2>&1', `cc -c src/u${turn}.c\nsrc/u${turn}.c:${r.int(5, 300)}:${r.int(1, 20)}: error: unknown type name 'u_int${turn}'\nmake: *** [Makefile:12: all] Error 1`, 2, 12);
      r.edit(`src/u${turn}.c`, `u_int${turn} x`, `uint32_t x${turn}`);
    }).bash('make -j4 2>&1', 'cc -o app', 0, 30).done('Ported.');
  },
  'snapshot of a design tool is polled while it renders': (r) => {
    r.user('Render the scene');
    r.does('mcp__blender__render', { scene: 'a' }, '{"job":"r1","state":"queued"}');
    r.times(10, (_, turn) => r.does('mcp__blender__job_status', { job: 'r1' }, `{"job":"r1","state":"running","progress":${turn / 10}}`).wait(30)).done('Rendered.');
  },
  'a flaky test is run until it is known how often it fails': (r) => {
    r.user('Is test_socket flaky?');
    r.times(10, (_, turn) => r.bash('pytest -q tests/test_socket.py -p no:randomly', turn % 4 === 2 ? `E   ConnectionResetError: port ${r.int(30_000, 60_000)}\n1 failed in ${r.int(1, 3)}.2${turn}s` : `1 passed in ${r.int(1, 3)}.1${turn}s`, turn % 4 === 2 ? 1 : 0)).done('One of four.');
  },
};
