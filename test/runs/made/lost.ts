import type { MadeRun } from './made-run.ts';

type Make = (r: MadeRun) => void;

export const lost: Record<string, Make> = {
  'an equal failing call, only times and pids differ': (r) => {
    r.user('Start the service').lost('looping');
    r.times(9, () => r.bash('systemctl --user start web && systemctl --user status web', `× web.service - Web\n     Active: failed (Result: exit-code) since ${r.clock}; ${r.int(10, 90)}ms ago\n    Process: ${r.int(1000, 99999)} ExecStart=/usr/bin/web (code=exited, status=203/EXEC)\n   Main PID: ${r.int(1000, 99999)}`, 3));
  },
  'an equal call that works, again and again, with times': (r) => {
    r.user('Is the cache warm?').lost('looping');
    r.times(10, () => r.bash('redis-cli info keyspace; date', `# Keyspace\ndb0:keys=12,expires=0\n${new Date(r.clock).toUTCString()}`));
  },
  'to and fro between two calls': (r) => {
    r.user('Why is the page blank?').read('src/App.vue', '<template><Main/></template>').lost('looping');
    r.times(7, () => r.read('src/Main.vue', '<template><div/></template>').bash('npm run build', `✓ built in ${r.int(300, 900)}ms\ndist/index.js  ${12}.4 kB`));
  },
  'a cycle of three': (r) => {
    r.user('Fix the login').lost('looping');
    r.times(6, () => r.bash('cat src/login.php', '<?php login();').bash('php -l src/login.php', 'No syntax errors detected in src/login.php').bash('curl -s localhost:8000/login', `<h1>500</h1> request ${r.hex(16)}`));
  },
  'a cycle of five': (r) => {
    r.user('Fix the import').lost('looping');
    r.times(5, () => r.bash('ls', 'a.py b.py').read('a.py', 'import b').read('b.py', 'import a').bash('python a.py', 'ImportError: cannot import name (most likely due to a circular import)', 1).grep('import', 'a.py:1:import b\nb.py:1:import a'));
  },
  'an edit that never fits, with other spaces': (r) => {
    r.user('Rename the field').read('src/Model.cs', 'public string Name { get; set; }').lost('error-spiral');
    r.times(8, (_, turn) => r.edit('src/Model.cs', `public${' '.repeat(turn)} string name`, 'public string Title', 'String to replace not found in file.\nString: public string name'));
  },
  'an edit that changes nothing': (r) => {
    r.user('Fix the type').lost('error-spiral');
    r.times(7, (_, turn) => r.edit('src/a.ts', `let a${turn}: any`, `let a${turn}: any`, 'No changes to make: old_string and new_string are exactly the same.'));
  },
  'edit and revert, the test in between': (r) => {
    r.user('Make the test pass').lost('looping');
    r.times(6, (_, turn) => {
      if (turn % 2 === 0) r.edit('src/calc.rb', 'a + b', 'a - b');
      else r.edit('src/calc.rb', 'a - b', 'a + b');
      r.bash('bundle exec rspec', `Finished in 0.0${r.int(1000, 9999)} seconds\n${turn % 2 ? 'expected: 4 got: 5' : 'expected: 5 got: 1'}\n1 example, 1 failure`, 1);
    });
  },
  'searches that find nothing, with ever new words': (r) => {
    r.user('Where is the retry logic?').lost('no-progress');
    r.times(14, (_, turn) => r.grep(['retryPolicy', 'RetryManager', 'backoff', 'exponential', 'maxAttempts', 'retry_count', 'withRetry', 'resilience', 'circuitBreaker', 'tenacity', 'polly', 'retrier', 'reattempt', 'tryAgain'][turn] ?? ''));
  },
  'searches by the shell that find nothing': (r) => {
    r.user('Where is the licence check?').lost('no-progress');
    r.times(12, (_, turn) => r.bash(turn % 2 ? `find / -name "*licen${turn}*" -not -path '*/proc/*' 2>/dev/null` : `grep -rn "check_license_${turn}" . --include=*.py | head -20`, ''));
  },
  'names that do not exist, some by ls and some by cat': (r) => {
    r.user('Read the design').lost('error-spiral');
    r.times(11, (_, turn) => turn % 2 ? r.bash(`cat docs/design_${turn}.md`, `cat: docs/design_${turn}.md: No such file or directory`, 1) : r.does('Read', { file_path: `/repo/docs/Design${turn}.md` }, '<tool_use_error>File does not exist.</tool_use_error>', true));
  },
  'says sorry and does nothing, driven by a stop hook': (r) => {
    r.user('Delete the dead code').lost('no-progress');
    r.times(10, (_, turn) => r.says(`I apologize, I will now really delete it. ${'Sorry. '.repeat(turn)}`).note('Stop hook feedback: the task is not done'));
  },
  'speaks through echo': (r) => {
    r.user('Fix the race').lost('no-progress');
    r.times(12, (_, turn) => r.bash(`echo "Now I am going to look at the lock number ${turn}"`, `Now I am going to look at the lock number ${turn}`));
  },
  'the same four files are read for twenty turns': (r) => {
    r.user('Find the leak').lost('looping');
    r.times(20, (_, turn) => r.read(`src/pool${turn % 4}.go`, `package pool\nfunc Get${turn % 4}() {}`));
  },
  'the same four files in changing order and pieces': (r) => {
    r.user('Find the leak').lost('no-progress');
    for (const turn of [0, 2, 1, 3, 3, 1, 0, 2, 1, 0, 3, 2, 2, 3, 0, 1, 1, 2, 3, 0, 2, 1]) r.bash(['cat', 'head -100', 'sed -n 1,100p'][r.int(0, 2)] + ` src/pool${turn}.go`, `package pool\nfunc Get${turn}() {\n return pool${turn}\n}`);
  },
  'something dead is asked for an hour': (r) => {
    r.user('Wait for the deployment').lost('looping');
    r.times(60, () => r.bash('sleep 60; curl -sf localhost:8080/health', `curl: (7) Failed to connect to localhost port 8080 after ${r.int(0, 3)} ms: Connection refused`, 7, 61));
  },
  'a file that never changes is asked for two hours': (r) => {
    r.user('Wait for the job').lost('looping');
    r.times(60, () => r.bash('sleep 120 && cat status.txt', 'state: pending', 0, 121));
  },
  'a tool that is not there, in many dresses': (r) => {
    r.user('Install the packages').lost('error-spiral');
    for (const command of ['pnpm i', 'pnpm install --frozen-lockfile', '/usr/local/bin/pnpm i', 'npx pnpm i', 'corepack pnpm i', '~/.local/bin/pnpm i', 'bash -lc "pnpm i"', 'env pnpm i', 'command pnpm i']) r.bash(command, `bash: line ${r.int(1, 3)}: pnpm: command not found`, 127);
  },
  'permission denied again and again': (r) => {
    r.user('Install the hook').lost('error-spiral');
    for (const command of ['cp hook /etc/hooks/', 'install -m755 hook /etc/hooks/hook', 'tee /etc/hooks/hook < hook', 'mkdir -p /etc/hooks', 'chmod u+w /etc/hooks', 'sudo -n cp hook /etc/hooks/', 'mv hook /etc/hooks/', 'ln -s $PWD/hook /etc/hooks/hook']) r.bash(command, `${command.split(' ')[0]}: cannot create '/etc/hooks/hook': Permission denied`, 1);
  },
  'the same message despite a dozen edits': (r) => {
    r.user('Fix test_invoice').read('app/invoice.py', 'def total(): ...').lost('no-progress');
    r.times(12, (_, turn) => {
      r.edit('app/invoice.py', `x = ${turn}`, `x = ${turn + 1}  # try ${turn}`);
      r.bash('pytest -q tests/test_invoice.py', `F                                                                        [100%]\n___________ test_total ___________\n>       assert total() == Decimal('119.00')\nE       AssertionError: assert Decimal('0') == Decimal('119.00')\ntests/test_invoice.py:${22}: AssertionError\nFAILED tests/test_invoice.py::test_total - AssertionError\n1 failed in 0.${r.int(10, 99)}s`, 1);
    });
  },
  'the same compiler error, its line moves with the edits': (r) => {
    r.user('Make it compile').lost('no-progress');
    r.times(11, (_, turn) => {
      r.edit('src/pool.rs', `// v${turn}`, `// v${turn + 1}\nlet guard${turn} = self.m.lock();`);
      r.bash('cargo build 2>&1', `   Compiling pool v0.1.0 (/tmp/b${r.hex(6)}/pool)\nerror[E0502]: cannot borrow \`*self\` as mutable because it is also borrowed as immutable\n  --> src/pool.rs:${40 + turn}:9\n   |\n${39 + turn} |         let g = self.m.lock();\n   |                 ---- immutable borrow occurs here\n${40 + turn} |         self.grow();\n   |         ^^^^^^^^^^^ mutable borrow occurs here\n\nerror: could not compile \`pool\` (lib) due to 1 previous error`, 101, 4);
    });
  },
  'the same linker error under other flags': (r) => {
    r.user('Link it').lost('no-progress');
    r.times(9, (_, turn) => {
      r.edit('CMakeLists.txt', `set(F${turn} OFF)`, `set(F${turn} ON)`);
      r.bash('cmake --build build 2>&1 | tail -5', `[ 97%] Linking CXX executable app\n/usr/bin/ld: CMakeFiles/app.dir/main.cpp.o: undefined reference to \`crypto_init\'\ncollect2: error: ld returned 1 exit status\ngmake: *** [Makefile:136: all] Error 2`, 2, 20);
    });
  },
  'sleeping': (r) => {
    r.user('Wait until the upload is done').lost('no-progress');
    r.times(20, (_, turn) => r.bash(`sleep ${240 + turn}`, '', 0, 240 + turn));
  },
  'two wrong fixes in turn': (r) => {
    r.user('Fix the overflow').lost('looping');
    r.times(5, () => {
      r.edit('src/n.c', 'int n', 'long n').bash('make test', `n_test.c:12: FAIL wide (${r.int(1, 9)} ms)`, 2);
      r.edit('src/n.c', 'long n', 'int n').bash('make test', `n_test.c:19: FAIL overflow (${r.int(1, 9)} ms)`, 2);
    });
  },
  'two wrong fixes in turn, written as whole files': (r) => {
    r.user('Fix the overflow').lost('looping');
    r.times(5, () => {
      r.write('src/n.c', 'long n;').bash('make test', `n_test.c:12: FAIL wide (${r.int(1, 9)} ms)`, 2);
      r.write('src/n.c', 'int n;').bash('make test', `n_test.c:19: FAIL overflow (${r.int(1, 9)} ms)`, 2);
    });
  },
  'installs again and again': (r) => {
    r.user('Make the build work').lost('looping');
    r.times(6, () => {
      r.bash('rm -rf node_modules && npm install', `added 8${r.int(10, 12)} packages in ${r.int(20, 60)}s`, 0, 40);
      r.bash('npm run build', `> build\n> vite build\n\nerror during build:\nCould not resolve "./gen/schema" from "src/main.ts"\n    at file:///tmp/x${r.hex(6)}/node_modules/rollup/dist/a.js:${r.int(10, 20)}:10`, 1, 8);
    });
  },
  'reinstalls in other ways': (r) => {
    r.user('Make the build work').lost('no-progress');
    const ways = ['rm -rf node_modules && npm install', 'npm ci', 'npm cache clean --force && npm install', 'npm install --legacy-peer-deps', 'yarn install', 'npm install --force', 'rm package-lock.json && npm install', 'npm rebuild'];
    for (const way of ways) {
      r.bash(way, `added 8${r.int(10, 12)} packages in ${r.int(20, 60)}s`, 0, 40);
      r.bash('npm run build', `> build\n> vite build\n\nerror during build:\nCould not resolve "./gen/schema" from "src/main.ts"\n    at file:///tmp/x${r.hex(6)}/node_modules/rollup/dist/a.js:${r.int(10, 20)}:10`, 1, 8);
    }
  },
  'an MCP server that is gone': (r) => {
    r.user('File the tickets').lost('error-spiral');
    r.times(9, (_, turn) => r.does('mcp__jira__create_issue', { title: `Ticket ${turn}`, body: `text ${turn}` }, `MCP error -32000: Connection closed (request ${r.hex(8)})`, true));
  },
  'an MCP server that is gone and says so without an error flag': (r) => {
    r.user('File the tickets').lost('no-progress');
    r.times(12, (_, turn) => r.does('mcp__jira__create_issue', { title: `Ticket ${turn}`, body: `text ${turn}` }, `{"error":"service unavailable","request_id":"${r.hex(16)}"}`));
  },
  'wrong flags, ever new': (r) => {
    r.user('Export the dashboards').lost('error-spiral');
    r.times(9, (_, turn) => r.bash(`grafctl export --${['all', 'out', 'dir', 'format', 'json', 'org', 'every', 'full', 'dump'][turn]}`, `Error: unknown flag: --${['all', 'out', 'dir', 'format', 'json', 'org', 'every', 'full', 'dump'][turn]}\nUsage:\n  grafctl export [flags]`, 1));
  },
  'arguments the client refuses': (r) => {
    r.user('Ask the database').lost('error-spiral');
    r.times(8, (_, turn) => r.does('mcp__db__query', { sql_text: `select ${turn}` }, '<tool_use_error>InputValidationError: mcp__db__query failed due to the following issue:\nThe required parameter `sql` is missing</tool_use_error>', true));
  },
  'the web gives the same pages': (r) => {
    r.user('Find the fix for error 0x80').lost('no-progress');
    r.times(14, (_, turn) => r.does('WebSearch', { query: `error 0x80 ${['fix', 'solution', 'how to', 'github', 'forum', '2026', 'windows', 'root cause', 'stack', 'explained', 'answer', 'help', 'driver', 'patch'][turn]}` }, 'Links: [{"title":"Error 0x80","url":"https://a.example/80"},{"title":"What is 0x80","url":"https://b.example/80"}]'));
  },
  'terraform: the same refusal with new request ids': (r) => {
    r.user('Create the bucket').lost('no-progress');
    r.times(9, (_, turn) => {
      r.edit('s3.tf', `# ${turn}`, `# ${turn + 1}`);
      r.bash('terraform apply -auto-approve', `aws_s3_bucket.b: Creating...\n╷\n│ Error: creating S3 Bucket (logs): operation error S3: CreateBucket, https response error StatusCode: 403, RequestID: ${r.hex(16).toUpperCase()}, HostID: ${r.hex(40)}, api error AccessDenied: Access Denied\n│ \n│   with aws_s3_bucket.b,\n│   on s3.tf line ${4 + turn}, in resource "aws_s3_bucket" "b":\n╵`, 1, 12);
    });
  },
  'docker: the same step breaks, with new hashes': (r) => {
    r.user('Build the image').lost('no-progress');
    r.times(9, (_, turn) => {
      r.edit('Dockerfile', `ENV A=${turn}`, `ENV A=${turn + 1}`);
      r.bash('docker build .', `#4 [internal] load build definition\n#8 transferring context: ${r.int(10, 99)}.${r.int(1, 9)}kB ${r.int(0, 2)}.${r.int(1, 9)}s done\n#9 sha256:${r.hex(64)}\n#11 ${r.int(1, 9)}.${r.int(100, 999)} E: Unable to locate package libfoo-dev\n#11 ERROR: process "/bin/sh -c apt-get install -y libfoo-dev" did not complete successfully: exit code: 100`, 1, 40);
    });
  },
  'the same helper is started again and again': (r) => {
    r.user('Find the owner of the module').lost('looping');
    r.times(7, () => r.does('Task', { description: 'find owner', prompt: 'Find who owns billing', subagent_type: 'Explore' }, 'I could not find an owner of billing.', false, 50));
  },
  'a file grows by the same line': (r) => {
    r.user('Keep notes').lost('looping');
    r.times(9, (_, turn) => r.bash('echo "- still looking" >> notes.md && cat notes.md', Array.from({ length: turn + 1 }, () => '- still looking').join('\n')));
  },
  'the same file is written the same again': (r) => {
    r.user('Fix the config').lost('looping');
    r.times(7, () => r.write('config.yml', 'a: 1\nb: 2').bash('./app --check', `config.yml: b must be a list (checked in ${r.int(1, 9)} ms)`, 1));
  },
  'a hook refuses the commit for the same thing': (r) => {
    r.user('Commit').lost('looping');
    r.times(8, (_, turn) => r.bash(`git commit -am "${['fix', 'fix: bug', 'Fix bug', 'fix bug properly', 'chore: fix', 'fix again', 'wip', 'commit'][turn]}"`, `mypy.....................................................Failed\n- duration: ${r.int(1, 9)}.${r.int(10, 99)}s\n\napp/a.py:12: error: Incompatible return value type`, 1, 9));
  },
  'clicks on what is not there': (r) => {
    r.user('Order a book').lost('error-spiral');
    r.times(9, (_, turn) => r.does('mcp__playwright__browser_click', { element: 'Buy', ref: `e${turn * 5}` }, `Error: Ref e${turn * 5} not found in the current page snapshot. Try capturing new snapshot.`, true));
  },
  'clicks, looks, and nothing changes': (r) => {
    r.user('Log in').lost('looping');
    r.times(8, () => r.does('mcp__playwright__browser_click', { element: 'Sign in', ref: 'e12' }, '### Ran Playwright code\nawait page.click()\n### Page state\n- Page URL: http://localhost/login').does('mcp__playwright__browser_snapshot', {}, '- Page Title: Login\n- button "Sign in" [ref=e12]'));
  },
  'sql: the same complaint at another place': (r) => {
    r.user('Report the revenue').lost('error-spiral');
    r.times(10, (_, turn) => r.bash(`psql -c "select sum(total${turn}) from invoice"`, `ERROR:  relation "invoice" does not exist\nLINE 1: select sum(total${turn}) from invoice\n                              ^`, 1));
  },
  'up and down in one file': (r) => {
    r.user('Understand the code').lost('no-progress');
    r.times(18, (_, turn) => r.read('src/big.py', `${1 + (turn % 3) * 200}\tdef f${turn % 3}():`, 1 + (turn % 3) * 200));
  },
  'versions that do not exist': (r) => {
    r.user('Install torch').lost('error-spiral');
    r.times(10, (_, turn) => r.bash(`pip install torch==1.${turn}`, `ERROR: Could not find a version that satisfies the requirement torch==1.${turn} (from versions: 2.4.0, 2.5.0)\nERROR: No matching distribution found for torch==1.${turn}`, 1, 5));
  },
  'keys that do not open': (r) => {
    r.user('Deploy').lost('error-spiral');
    r.times(8, (_, turn) => r.bash(`ssh -i ~/.ssh/k${turn} deploy@prod1 uptime`, 'deploy@prod1: Permission denied (publickey).', 255, 3));
  },
  'time runs out, each time': (r) => {
    r.user('Run the tests').lost('error-spiral');
    r.times(7, (_, turn) => r.bash(`npm test -- --shard=${turn}/7`, 'Command timed out after 2m 0.0s', 143, 120));
  },
  'the same failure in chinese': (r) => {
    r.user('启动服务').lost('looping');
    r.times(8, () => r.bash('./启动.sh', `错误：无法连接数据库（耗时 ${r.int(10, 99)} 毫秒，进程 ${r.int(1000, 9999)}）`, 1));
  },
  'where am I': (r) => {
    r.user('Build it').lost('looping');
    r.times(5, () => r.bash('pwd', '/repo').bash('ls', 'a\nb\nsrc').bash('ls -la', 'total 8\ndrwxr-xr-x a\ndrwxr-xr-x b\ndrwxr-xr-x src').bash('cd src && ls', 'main.zig'));
  },
  'the list of tasks is rewritten and nothing else': (r) => {
    r.user('Do it').lost('no-progress');
    r.times(14, (_, turn) => r.does('TodoWrite', { todos: [{ content: `Plan the approach, take ${turn}`, status: 'pending' }] }, 'Todos have been modified successfully. Ensure that you continue to use the todo list.'));
  },
  'a filter that matches no test': (r) => {
    r.user('Run the import test').lost('no-progress');
    r.times(10, (_, turn) => r.bash(`go test ./... -run Test${['Import', 'Imports', 'CsvImport', 'ImportCSV', 'Importer', 'DoImport', 'ImportFile', 'ImportAll', 'Imp', 'ImportX'][turn]}`, `ok  \tgithub.com/a/b\t0.0${r.int(10, 99)}s [no tests to run]\nok  \tgithub.com/a/b/x\t0.0${r.int(10, 99)}s [no tests to run]`, 0, 4));
  },
  'a module that is not there, from many scripts': (r) => {
    r.user('Plot it').lost('error-spiral');
    r.times(9, (_, turn) => r.bash(`python - <<'EOF'\nimport plotly\nprint(${turn})\nEOF`, `Traceback (most recent call last):\n  File "<stdin>", line ${1 + (turn % 2)}, in <module>\nModuleNotFoundError: No module named 'plotly'`, 1));
  },
  'written, but changed meanwhile by a formatter': (r) => {
    r.user('Add the option').lost('error-spiral');
    r.times(8, (_, turn) => r.edit('src/opts.ts', `a${turn}`, `b${turn}`, 'File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.'));
  },
  'written, changed meanwhile, read, written': (r) => {
    r.user('Add the option').lost('error-spiral');
    r.times(8, (_, turn) => {
      r.edit('src/opts.ts', `a`, `b${turn}`, 'File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.');
      r.read('src/opts.ts', 'const a = 1;');
    });
  },
  'an address is asked without a pause': (r) => {
    r.user('Fetch the report').lost('looping');
    r.times(12, () => r.bash('curl -s https://api.example/report', `{"error":{"code":500,"message":"internal","requestId":"${r.hex(8)}-${r.hex(4)}-${r.hex(4)}"}}`));
  },
  'a pod that crashes is looked at, never mended': (r) => {
    r.user('Fix the deployment').lost('looping');
    r.times(9, (_, turn) => {
      r.bash('kubectl get pods', `NAME                  READY   STATUS             RESTARTS        AGE\nweb-6c8f7d9b5-x2x9q   0/1     CrashLoopBackOff   ${4 + turn} (${r.int(10, 50)}s ago)   ${10 + turn}m`);
      r.bash('kubectl logs web-6c8f7d9b5-x2x9q', `${r.clock} FATAL config: DATABASE_URL is not set`);
    });
  },
  'lost for a while, then it finds its way': (r) => {
    r.user('Add the column').bash('ls', 'db app').lost('looping');
    r.times(7, () => r.bash('bin/rails db:migrate', `rails aborted! ${r.int(1, 9)}ms\nPG::ConnectionBad: connection to server at "127.0.0.1", port 5432 failed`, 1));
    r.found().bash('pg_ctl start', 'server started').bash('bin/rails db:migrate', '== AddColumn: migrated').write('app/m.rb', 'x');
    r.times(5, (_, turn) => r.edit('app/m.rb', `a${turn}`, `b${turn}`)).done('Added.');
  },
  'late: after sixty good steps': (r) => {
    r.user('Modernise the whole library');
    r.times(30, (_, turn) => r.read(`lib/m${turn}.js`, `module.exports = ${turn}`).edit(`lib/m${turn}.js`, 'module.exports', 'export default'));
    r.lost('error-spiral').times(10, (_, turn) => r.bash(`node --test test/m${turn}.test.js`, `SyntaxError: Cannot use import statement outside a module\n    at wrapSafe (node:internal/modules/cjs/loader:${1_000 + turn}:18)`, 1));
  },
  'repeats a query over a changing counter': (r) => {
    r.user('Why is the queue stuck?').lost('looping');
    r.times(12, (_, turn) => r.bash('rabbitmqctl list_queues', `Timeout: 60.0 seconds ...\nListing queues for vhost / ...\njobs\t${812 + turn}`));
  },
  'the wrong interpreter in turn': (r) => {
    r.user('Run the script').lost('error-spiral');
    for (const p of ['python', 'python3', 'python3.9', 'python3.10', '/usr/bin/python3', 'python3.11', 'pypy3', 'uv run python']) r.bash(`${p} run.py`, `  File "/srv/run.py", line 3\n    match x:\n          ^\nSyntaxError: invalid syntax`, 1);
  },
  'edits that work, elsewhere, while the build says the same': (r) => {
    r.user('Fix the build').lost('no-progress');
    r.times(12, (_, turn) => {
      r.edit(`app/src/main/java/M${turn}.java`, 'import a', 'import b');
      r.bash('./gradlew assembleDebug', `> Task :app:processDebugResources FAILED\nFAILURE: Build failed with an exception.\n* What went wrong:\nAndroid resource linking failed\nerror: attribute fooColor not found.\nBUILD FAILED in ${r.int(3, 20)}s\n17 actionable tasks: 2 executed, 15 up-to-date`, 1, 15);
    });
  },
};
