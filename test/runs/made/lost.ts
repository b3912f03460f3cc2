import type { MadeRun } from './made-run.ts';

/** Runs that have lost their way, and from where on. */
export const lost: Record<string, (r: MadeRun) => void> = {
  'an equal failing call, only times and pids differ': (r) => {
    r.user('Start the service').lost('looping');
    r.times(9, () =>
      r.bash(
        'systemctl --user start web && systemctl --user status web',
        `× web.service - Web\n     Active: failed (Result: exit-code) since ${r.clock}; ${r.int(10, 90)}ms ago\n    Process: ${r.int(1000, 99999)} ExecStart=/usr/bin/web (code=exited, status=203/EXEC)\n   Main PID: ${r.int(1000, 99999)}`,
        3,
      ),
    );
  },
  'an address is asked without a pause': (r) => {
    r.user('Fetch the report').lost('looping');
    r.times(12, () =>
      r.bash(
        'curl -s https://api.example/report',
        `{"error":{"code":500,"message":"internal","requestId":"${r.hex(8)}-${r.hex(4)}-${r.hex(4)}"}}`,
      ),
    );
  },
  'a cycle of three': (r) => {
    r.user('Fix the login').lost('looping');
    r.times(6, () =>
      r
        .bash('cat src/login.php', '<?php login();')
        .bash('php -l src/login.php', 'No syntax errors detected in src/login.php')
        .bash('curl -s localhost:8000/login', `<h1>500</h1> request ${r.hex(16)}`),
    );
  },
  'two wrong fixes in turn': (r) => {
    r.user('Fix the overflow').lost('looping');
    r.times(5, () => {
      r.edit('src/n.c', 'int n', 'long n').bash('make test', `n_test.c:12: FAIL wide (${r.int(1, 9)} ms)`, 2);
      r.edit('src/n.c', 'long n', 'int n').bash('make test', `n_test.c:19: FAIL overflow (${r.int(1, 9)} ms)`, 2);
    });
  },
  'an edit that never fits, with other spaces': (r) => {
    r.user('Rename the field').read('src/Model.cs', 'public string Name { get; set; }').lost('error-spiral');
    r.times(8, (_, turn) =>
      r.edit(
        'src/Model.cs',
        `public${' '.repeat(turn)} string name`,
        'public string Title',
        'String to replace not found in file.\nString: public string name',
      ),
    );
  },
  'searches that find nothing, with ever new words': (r) => {
    r.user('Where is the retry logic?').lost('no-progress');
    r.times(14, (_, turn) =>
      r.grep(
        [
          'retryPolicy',
          'RetryManager',
          'backoff',
          'exponential',
          'maxAttempts',
          'retry_count',
          'withRetry',
          'resilience',
          'circuitBreaker',
          'tenacity',
          'polly',
          'retrier',
          'reattempt',
          'tryAgain',
        ][turn] ?? '',
      ),
    );
  },
  'speaks through echo': (r) => {
    r.user('Fix the race').lost('no-progress');
    r.times(12, (_, turn) =>
      r.bash(
        `echo "Now I am going to look at the lock number ${turn}"`,
        `Now I am going to look at the lock number ${turn}`,
      ),
    );
  },
  'says sorry and does nothing, driven by a stop hook': (r) => {
    r.user('Delete the dead code').lost('no-progress');
    r.times(10, (_, turn) =>
      r
        .says(`I apologize, I will now really delete it. ${'Sorry. '.repeat(turn)}`)
        .note('Stop hook feedback: the task is not done'),
    );
  },
  'something dead is asked for an hour': (r) => {
    r.user('Wait for the deployment').lost('looping');
    r.times(60, () =>
      r.bash(
        'sleep 60; curl -sf localhost:8080/health',
        `curl: (7) Failed to connect to localhost port 8080 after ${r.int(0, 3)} ms: Connection refused`,
        7,
        61,
      ),
    );
  },
  sleeping: (r) => {
    r.user('Wait until the upload is done').lost('no-progress');
    r.times(20, (_, turn) => r.bash(`sleep ${240 + turn}`, '', 0, 240 + turn));
  },
  'permission denied again and again': (r) => {
    r.user('Install the hook').lost('error-spiral');
    for (const command of [
      'cp hook /etc/hooks/',
      'install -m755 hook /etc/hooks/hook',
      'tee /etc/hooks/hook < hook',
      'mkdir -p /etc/hooks',
      'chmod u+w /etc/hooks',
      'sudo -n cp hook /etc/hooks/',
      'mv hook /etc/hooks/',
      'ln -s $PWD/hook /etc/hooks/hook',
    ])
      r.bash(command, `${command.split(' ')[0]}: cannot create '/etc/hooks/hook': Permission denied`, 1);
  },
  'an MCP server that is gone': (r) => {
    r.user('File the tickets').lost('error-spiral');
    r.times(9, (_, turn) =>
      r.does(
        'mcp__jira__create_issue',
        { title: `Ticket ${turn}`, body: `text ${turn}` },
        `MCP error -32000: Connection closed (request ${r.hex(8)})`,
        true,
      ),
    );
  },
  'an MCP server that is gone and says so without an error flag': (r) => {
    r.user('File the tickets').lost('no-progress');
    r.times(12, (_, turn) =>
      r.does(
        'mcp__jira__create_issue',
        { title: `Ticket ${turn}`, body: `text ${turn}` },
        `{"error":"service unavailable","request_id":"${r.hex(16)}"}`,
      ),
    );
  },
  'arguments the client refuses': (r) => {
    r.user('Ask the database').lost('error-spiral');
    r.times(8, (_, turn) =>
      r.does(
        'mcp__db__query',
        { sql_text: `select ${turn}` },
        '<tool_use_error>InputValidationError: mcp__db__query failed due to the following issue:\nThe required parameter `sql` is missing</tool_use_error>',
        true,
      ),
    );
  },
  'the same message despite a dozen edits': (r) => {
    r.user('Fix test_invoice').read('app/invoice.py', 'def total(): ...').lost('no-progress');
    r.times(12, (_, turn) => {
      r.edit('app/invoice.py', `x = ${turn}`, `x = ${turn + 1}  # try ${turn}`);
      r.bash(
        'pytest -q tests/test_invoice.py',
        `F                                                                        [100%]\n___________ test_total ___________\n>       assert total() == Decimal('119.00')\nE       AssertionError: assert Decimal('0') == Decimal('119.00')\ntests/test_invoice.py:${22}: AssertionError\nFAILED tests/test_invoice.py::test_total - AssertionError\n1 failed in 0.${r.int(10, 99)}s`,
        1,
      );
    });
  },
  'the same compiler error, its line moves with the edits': (r) => {
    r.user('Make it compile').lost('no-progress');
    r.times(13, (_, turn) => {
      r.edit('src/pool.rs', `// v${turn}`, `// v${turn + 1}\nlet guard${turn} = self.m.lock();`);
      r.bash(
        'cargo build 2>&1',
        `   Compiling pool v0.1.0 (/tmp/b${r.hex(6)}/pool)\nerror[E0502]: cannot borrow \`*self\` as mutable because it is also borrowed as immutable\n  --> src/pool.rs:${40 + turn}:9\n   |\n${39 + turn} |         let g = self.m.lock();\n   |                 ---- immutable borrow occurs here\n${40 + turn} |         self.grow();\n   |         ^^^^^^^^^^^ mutable borrow occurs here\n\nerror: could not compile \`pool\` (lib) due to 1 previous error`,
        101,
        4,
      );
    });
  },
  'terraform: the same refusal with new request ids': (r) => {
    r.user('Create the bucket').lost('no-progress');
    r.times(13, (_, turn) => {
      r.edit('s3.tf', `# ${turn}`, `# ${turn + 1}`);
      r.bash(
        'terraform apply -auto-approve',
        `aws_s3_bucket.b: Creating...\n╷\n│ Error: creating S3 Bucket (logs): operation error S3: CreateBucket, https response error StatusCode: 403, RequestID: ${r.hex(16).toUpperCase()}, HostID: ${r.hex(40)}, api error AccessDenied: Access Denied\n│ \n│   with aws_s3_bucket.b,\n│   on s3.tf line ${4 + turn}, in resource "aws_s3_bucket" "b":\n╵`,
        1,
        12,
      );
    });
  },
  'ever new scripts around the tool that is missing': (r) => {
    r.user('Run the java tests').lost('no-progress');
    r.times(13, (_, t) =>
      r
        .write(`run${t}.sh`, `#!/bin/sh\njavac A${t}.java`)
        .bash(`chmod +x run${t}.sh`, '')
        .bash(`./run${t}.sh`, `./run.sh: line ${2 + (t % 2)}: javac: command not found`, 127),
    );
  },
  'the whole file is written anew, the test says the same': (r) => {
    r.user('Fix it')
      .lost('no-progress')
      .times(13, (_, t) =>
        r
          .write('calc.js', `// try ${t}\nmodule.exports = (a, b) => a * ${t}`)
          .bash(
            'node --test',
            `not ok 1 - adds\n  ---\n  duration_ms: ${r.int(1, 9)}.${r.int(100, 999)}\n  error: 'Expected values to be strictly equal'\n  ...\n# pass 0\n# fail 1`,
            1,
          ),
      );
  },
  'late: after sixty good steps': (r) => {
    r.user('Modernise the whole library');
    r.times(30, (_, turn) =>
      r.read(`lib/m${turn}.js`, `module.exports = ${turn}`).edit(`lib/m${turn}.js`, 'module.exports', 'export default'),
    );
    r.lost('error-spiral').times(10, (_, turn) =>
      r.bash(
        `node --test test/m${turn}.test.js`,
        `SyntaxError: Cannot use import statement outside a module\n    at wrapSafe (node:internal/modules/cjs/loader:${1_000 + turn}:18)`,
        1,
      ),
    );
  },
  'docker: the same step breaks, with new hashes': (r) => {
    r.user('Build the image').lost('no-progress');
    r.times(13, (_, turn) => {
      r.edit('Dockerfile', `ENV A=${turn}`, `ENV A=${turn + 1}`);
      r.bash(
        'docker build .',
        `#4 [internal] load build definition\n#8 transferring context: ${r.int(10, 99)}.${r.int(1, 9)}kB ${r.int(0, 2)}.${r.int(1, 9)}s done\n#9 sha256:${r.hex(64)}\n#11 ${r.int(1, 9)}.${r.int(100, 999)} E: Unable to locate package libfoo-dev\n#11 ERROR: process "/bin/sh -c apt-get install -y libfoo-dev" did not complete successfully: exit code: 100`,
        1,
        40,
      );
    });
  },
  'the list of tasks is rewritten and nothing else': (r) => {
    r.user('Do it').lost('no-progress');
    r.times(14, (_, turn) =>
      r.does(
        'TodoWrite',
        { todos: [{ content: `Plan the approach, take ${turn}`, status: 'pending' }] },
        'Todos have been modified successfully. Ensure that you continue to use the todo list.',
      ),
    );
  },
  'a filter that matches no test': (r) => {
    r.user('Run the import test').lost('no-progress');
    r.times(10, (_, turn) =>
      r.bash(
        `go test ./... -run Test${['Import', 'Imports', 'CsvImport', 'ImportCSV', 'Importer', 'DoImport', 'ImportFile', 'ImportAll', 'Imp', 'ImportX'][turn]}`,
        `ok  \tgithub.com/a/b\t0.0${r.int(10, 99)}s [no tests to run]\nok  \tgithub.com/a/b/x\t0.0${r.int(10, 99)}s [no tests to run]`,
        0,
        4,
      ),
    );
  },
  'repeats a query over a changing counter': (r) => {
    r.user('Why is the queue stuck?').lost('looping');
    r.times(12, (_, turn) =>
      r.bash(
        'rabbitmqctl list_queues',
        `Timeout: 60.0 seconds ...\nListing queues for vhost / ...\njobs\t${812 + turn}`,
      ),
    );
  },
};
