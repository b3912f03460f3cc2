import type { MadeRun } from './made-run.ts';

type Make = (r: MadeRun) => void;

export const healthy2: Record<string, Make> = {
  'background build asked, with sleeps, silent for half an hour': (r) => {
    r.user('Build chromium').bash('autoninja -C out/Default chrome > /dev/null &', 'Command running in background with ID: b12');
    r.times(15, () => r.bash('sleep 120', '', 0, 120).does('BashOutput', { bash_id: 'b12' }, `<status>running</status>\n<timestamp>${r.clock}</timestamp>`));
    r.does('BashOutput', { bash_id: 'b12' }, '<status>completed</status>\n<exit_code>0</exit_code>').done('Built.');
  },
  'gh run list after sleeps of their own': (r) => {
    r.user('Wait for the nightly').times(12, () => r.bash('sleep 45', '', 0, 45).bash('gh run list --limit 1', 'in_progress\tNightly\tmain\tschedule\t77123\t12m'));
    r.bash('gh run list --limit 1', 'completed\tsuccess\tNightly').done('Green');
  },
  'six patterns without a match among reads': (r) => {
    r.user('Where is the session stored?');
    r.times(6, (_, t) => r.grep(`session_${t}`).read(`src/s${t}.rs`, `pub struct S${t};`)).done('Redis.');
  },
  'pytest -x, one test after the other': (r) => {
    r.user('Make all pass');
    r.times(10, (_, t) => r.bash('pytest -x -q', `${'.'.repeat(t)}F\nE       KeyError: 'f${t}'\ntests/test_m${t}.py:${r.int(3, 90)}: KeyError\nFAILED tests/test_m${t}.py::test_f${t} - KeyError: 'f${t}'\n1 failed, ${t} passed in 0.${r.int(10, 99)}s`, 1).edit(`m${t}.py`, 'a', `b${t}`)).bash('pytest -x -q', '10 passed in 0.4s').done('ok');
  },
  'kotlin: one unresolved reference after another': (r) => {
    r.user('Fix the imports');
    r.times(10, (_, t) => r.bash('./gradlew compileKotlin', `e: file:///srv/app/src/Main.kt:${10 + t}:9 Unresolved reference: helper${t}\n\nFAILURE: Build failed with an exception.\nBUILD FAILED in ${r.int(2, 9)}s`, 1, 9).edit('src/Main.kt', `import a${t}`, `import b${t}`)).done('ok');
  },
  'imports of twelve resources': (r) => {
    r.user('Import the state').times(12, (_, t) => r.bash(`terraform import aws_iam_user.u${t} user${t}`, `aws_iam_user.u${t}: Importing from ID "user${t}"...\naws_iam_user.u${t}: Import prepared!\n  Prepared aws_iam_user for import\naws_iam_user.u${t}: Refreshing state... [id=user${t}]\n\nImport successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour Terraform state and will henceforth be managed by Terraform.\n`, 0, 5)).done('ok');
  },
  'a validator with a banner': (r) => {
    r.user('Validate all specs');
    r.times(13, (_, t) => r.bash(`openapi-lint specs/s${t}.yaml`, `${'='.repeat(80)}\nOpenAPI lint 4.2, the friendly validator. Read more at https://example.org/docs/rules/all\n${'='.repeat(80)}\nNo problems were found in this document. It is valid, and has been checked against all 112 rules.\n`)).done('ok');
  },
  'files by heredoc': (r) => {
    r.user('Scaffold').times(14, (_, t) => r.bash(`cat > pkg/m${t}/mod.go <<'EOF'\npackage m${t}\nfunc F() int { return ${t} }\nEOF`, '')).bash('go build ./...', '').done('ok');
  },
  'the end of a journal that rolls': (r) => {
    r.user('Watch the deploy').times(10, (_, t) => r.bash('journalctl -u web -n 5 --no-pager', Array.from({ length: 5 }, (_, k) => `Sep 14 08:${10 + t}:${10 + k} host web[${r.int(100, 999)}]: handled request ${t * 5 + k}`).join('\n'))).done('ok');
  },
  'pictures are made': (r) => {
    r.user('Make twelve icons').times(12, (_, t) => r.does('mcp__images__generate', { prompt: `icon number ${t}`, size: 64 }, `Image saved to /tmp/out/${r.hex(8)}.png`)).done('ok');
  },
  'migrations to and fro while they are written': (r) => {
    r.user('Write the migration');
    r.times(6, (_, t) => r.edit('db/migrate/1.rb', `c${t}`, `c${t + 1}`).bash('rails db:rollback', `== 1 AddThings: reverting ====\n== 1 AddThings: reverted (0.00${r.int(10, 99)}s) ===`).bash('rails db:migrate', `== 1 AddThings: migrating ====\n== 1 AddThings: migrated (0.00${r.int(10, 99)}s) ===`)).done('ok');
  },
  'sed on one file, fifteen times': (r) => {
    r.user('Clean up').times(15, (_, t) => r.bash(`sed -i 's/old${t}/new${t}/g' src/all.ts && git diff --stat`, ` src/all.ts | ${t + 1} +-\n 1 file changed`)).done('ok');
  },
  'twelve pull requests are merged': (r) => {
    r.user('Merge the dependabot PRs').times(12, (_, t) => r.bash(`gh pr merge ${100 + t} --squash`, `✓ Squashed and merged pull request #${100 + t} (Bump lib${t})`, 0, 4)).done('ok');
  },
  'five words that find nothing, then the right one': (r) => {
    r.user('Where are the limits?').times(5, (_, t) => r.grep(`limit_${t}`)).grep('quota', 'src/quota.go:3:type Quota struct').read('src/quota.go', 'type Quota struct {}').edit('src/quota.go', 'a', 'b').done('ok');
  },
  'found out by prints: the same assertion, other words before it': (r) => {
    r.user('Why is it wrong?');
    r.times(9, (_, t) => r.edit('src/p.py', `# ${t}`, `print('stage ${t}', x)\n# ${t + 1}`).bash('pytest -q t.py', `stage ${t} value ${r.int(1, 999)}\n${Array.from({ length: t }, (_, k) => `stage ${k} value ${r.int(1, 999)}`).join('\n')}\nE   assert 3 == 4\n1 failed in 0.1s`, 1)).edit('src/p.py', 'bug', 'fix').bash('pytest -q t.py', '1 passed').done('ok');
  },
  'a server that takes a while to come up': (r) => {
    r.user('Start it').bash('npm start &', '').times(6, () => r.bash('sleep 3; curl -s localhost:3000/health', '', 7, 4)).bash('sleep 3; curl -s localhost:3000/health', 'ok', 0, 4).done('ok');
  },
  'small questions to node': (r) => {
    r.user('Test the regex').times(16, (_, t) => r.bash(`node -e "console.log(/^a${t}*b$/.test('a${t}b'))"`, t % 3 ? 'true' : 'false')).done('ok');
  },
  'helpers that all say it is fine': (r) => {
    r.user('Review each module').times(9, (_, t) => r.does('Task', { description: 'review', prompt: `Review module m${t}`, subagent_type: 'reviewer' }, 'No issues found in this module.', false, 40)).done('ok');
  },
  'half of the searches of the web are empty': (r) => {
    r.user('Find prior art').times(10, (_, t) => r.does('WebSearch', { query: `prior art ${t} raft gossip` }, t % 2 ? 'No results found.' : `Links: [{"title":"P${t}","url":"https://x.org/${t}"}]`)).done('ok');
  },
  'a document grows': (r) => {
    r.user('Write the report').times(9, (_, t) => r.write('report.md', Array.from({ length: t + 1 }, (_, k) => `# Part ${k}`).join('\n'))).done('ok');
  },
  'five tries with the same failure, then it works': (r) => {
    r.user('Fix the flake');
    r.times(5, (_, t) => r.edit('a.go', `x${t}`, `y${t}`).bash('go test ./a', `--- FAIL: TestA (0.0${r.int(1, 9)}s)\n    a_test.go:12: timeout\nFAIL\tx/a\t1.${r.int(10, 99)}s`, 1)).edit('a.go', 'x9', 'y9').bash('go test ./a', 'ok x/a 0.1s').done('ok');
  },
  'a form is filled in, the page looks the same': (r) => {
    r.user('Fill in the form').times(10, (_, t) => r.does('mcp__playwright__browser_type', { element: `field ${t}`, ref: `e${t}`, text: `v${t}` }, `### Ran Playwright code\nawait page.fill('#f${t}')`).does('mcp__playwright__browser_snapshot', {}, `- Page Title: Form\n- textbox [ref=e1]${t > 5 ? ' filled' : ''}`)).done('ok');
  },
  'a repl in a database, numbers as answers': (r) => {
    r.user('Count things').times(15, (_, t) => r.does('mcp__db__query', { sql: `select count(*) from t${t}` }, `{"rows":[{"count":${t % 4 === 0 ? 0 : r.int(1, 9)}}]}`)).done('ok');
  },
  'shell history of a sysadmin: short confirmations': (r) => {
    r.user('Restart all services').times(12, (_, t) => r.bash(`sudo systemctl restart svc${t} && systemctl is-active svc${t}`, 'active')).done('ok');
  },
  'the same question to many machines': (r) => {
    r.user('Which version runs where?').times(12, (_, t) => r.bash(`ssh host${t} cat /etc/app-version`, 'app 2.4.1 (stable channel)')).done('All the same.');
  },
  'many configs that are equal are read': (r) => {
    r.user('Are these all the same?').times(12, (_, t) => r.read(`services/s${t}/.npmrc`, 'registry=https://npm.example/\nalways-auth=true')).done('Yes.');
  },
  'tests are run for each package, all pass alike': (r) => {
    r.user('Test every package').times(12, (_, t) => r.bash(`npm test -w packages/p${t} --silent`, `  12 passing (${r.int(10, 99)}ms)`, 0, 3)).done('ok');
  },
};

export const lost2: Record<string, Make> = {
  'a server on a new port each time, never reached': (r) => {
    r.user('Show me the page').lost('looping');
    r.times(8, () => r.bash('npm run dev &', `  VITE ready in ${r.int(100, 900)} ms\n  Local: http://localhost:5173/`).bash('curl -s localhost:3000', 'curl: (7) Failed to connect to localhost port 3000', 7));
  },
  'patches that never fit': (r) => {
    r.user('Add the flag').lost('error-spiral').times(9, (_, t) => r.edit('src/cli.ts', `flag${t}`, `flagged${t}`, 'String to replace not found in file.'));
  },
  'the same failure, edits and reads in between': (r) => {
    r.user('Fix the export').lost('no-progress');
    r.times(10, (_, t) => r.read(`src/e${t}.py`, `def e${t}(): pass`).edit(`src/e${t}.py`, 'pass', `return ${t}`).bash('python export.py', `Traceback (most recent call last):\n  File "/srv/export.py", line ${10 + (t % 3)}, in <module>\n    main()\nValueError: year is out of range`, 1));
  },
  'ever new scripts around the tool that is missing': (r) => {
    r.user('Run the java tests').lost('no-progress');
    r.times(10, (_, t) => r.write(`run${t}.sh`, `#!/bin/sh\njavac A${t}.java`).bash(`chmod +x run${t}.sh`, '').bash(`./run${t}.sh`, `./run.sh: line ${2 + (t % 2)}: javac: command not found`, 127));
  },
  'a wrapper that cannot download': (r) => {
    r.user('Build').lost('error-spiral');
    for (const flag of ['', ' --info', ' --stacktrace', ' --no-daemon', ' --offline', ' -x test', ' --refresh-dependencies', ' --debug']) r.bash(`./gradlew build${flag}`, `Downloading https://services.gradle.org/distributions/gradle-8.5-bin.zip\nException in thread "main" java.net.SocketTimeoutException: Connect timed out`, 1, 30);
  },
  'no result on the web for ever new words': (r) => {
    r.user('Find the docs').lost('no-progress').times(13, (_, t) => r.does('WebSearch', { query: `frobnicator ${['api', 'docs', 'manual', 'guide', 'wiki', 'reference', 'spec', 'howto', 'faq', 'sdk', 'cli', 'book', 'intro'][t]}` }, `No results found for this query. Try other words.`));
  },
  'a page that does not answer': (r) => {
    r.user('Check the site').lost('error-spiral').times(9, (_, t) => r.does('mcp__playwright__browser_navigate', { url: `http://localhost:${3000 + t}` }, 'Error: page.goto: net::ERR_CONNECTION_REFUSED', true));
  },
  'the whole file is written anew, the test says the same': (r) => {
    r.user('Fix it').lost('no-progress').times(11, (_, t) => r.write('calc.js', `// try ${t}\nmodule.exports = (a, b) => a * ${t}`).bash('node --test', `not ok 1 - adds\n  ---\n  duration_ms: ${r.int(1, 9)}.${r.int(100, 999)}\n  error: 'Expected values to be strictly equal'\n  ...\n# pass 0\n# fail 1`, 1));
  },
  'lost before and after a compaction': (r) => {
    r.user('Find the bug').lost('looping').times(9, () => r.bash('cat log.txt', 'nothing here').bash('cat err.txt', 'nothing there')).compacted();
    r.times(9, () => r.bash('cat log.txt', 'nothing here').bash('cat err.txt', 'nothing there'));
  },
  'reads with a note before each': (r) => {
    r.user('Find the bug').lost('looping').times(9, (_, t) => r.does('TodoWrite', { todos: [{ content: `look ${t}`, status: 'pending' }] }, 'Todos have been modified successfully.').read('src/a.ts', 'const a = 1'));
  },
  'an interactive program that waits for an answer': (r) => {
    r.user('Scaffold the app').lost('looping').times(7, () => r.bash('npm create vite@latest', '? Project name: › vite-project', 143, 120));
  },
  'git push refused': (r) => {
    r.user('Push').lost('looping').times(8, (_, t) => r.bash(t % 2 ? 'git push' : 'git push origin main', `To github.com:a/b.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'`, 1, 3));
  },
  'a cell of a notebook that dies': (r) => {
    r.user('Train').lost('looping').times(7, () => r.does('mcp__jupyter__run_cell', { cell: 4 }, `Kernel died, restarting (pid ${r.int(1000, 9999)})`, true, 20));
  },
  'asks for its own tools': (r) => {
    r.user('Deploy').lost('no-progress').times(12, (_, t) => r.does('ToolSearch', { query: ['deploy', 'kubectl', 'helm', 'release', 'ship', 'rollout', 'publish', 'k8s', 'cluster', 'argo', 'flux', 'push'][t] }, 'No matching deferred tools found'));
  },
};
