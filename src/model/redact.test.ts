import { describe, expect, it } from 'vitest';
import { leakIn, madeSecrets, spelledSecrets } from '../../test/fixtures/secrets.ts';
import { redact } from './redact.ts';
import { shown } from './text.ts';

const all = [...madeSecrets(), ...spelledSecrets()];

function slipped(clean: (text: string) => string): string[] {
  return all.flatMap(({ name, text, canary }) => {
    const piece = leakIn(clean(text), canary, 6);
    return piece === null ? [] : [`${name}: ${piece} in ${clean(text)}`];
  });
}

describe('no secret stays in what is stored or shown', () => {
  it('in any form and spelling', () => {
    expect(all.length).toBeGreaterThan(1_000);
    expect(slipped(redact)).toEqual([]);
  });
  it('shown twice', () => expect(slipped((text) => shown(shown(text)))).toEqual([]));
});

describe('a secret does not slip through by how its value is written', () => {
  it.each<[string, string, string]>([
    ['a quote within', '{"password":"ab\\"cd-7x"}', '{"password":"[redacted]"}'],
    [
      'a quote within, in json',
      String.raw`{"o":"{\"password\":\"ab\\\"cd\",\"a\":1}"}`,
      String.raw`{"o":"{\"password\":\"[redacted]\",\"a\":1}"}`,
    ],
    ['a backslash at its end', String.raw`{"password":"ab\\","user":"me"}`, '{"password":"[redacted]","user":"me"}'],
    ['letters as escapes', String.raw`{"pass\u0077ord":"7x\u0037y"}`, String.raw`{"pass\u0077ord":"[redacted]"}`],
    ['an invisible character in its name', 'DB_PASS\u200bWORD=7x7', 'DB_PASS\u200bWORD=[redacted]'],
    ['a colour within', 'ghp_abcdefgh\u001b[1mijklmnopqrstuv\u001b[0m end', '[redacted] end'],
    ['cut off before its quote', 'x "password": "a b c', 'x "password": "[redacted]'],
    ['a quote in the middle, none around', 'DB_PASSWORD=ab\'cd"ef next', 'DB_PASSWORD=[redacted] next'],
    ['& within, in a shell', 'DB_PASSWORD=a&b;c next', 'DB_PASSWORD=[redacted] next'],
    ['figures only', 'password: 1234', 'password: [redacted]'],
    ['a word only', 'db_password: swordfish', 'db_password: [redacted]'],
    ['over lines', '"token":\n    "abcd 7x"', '"token":\n    "[redacted]"'],
    ['three quotes', 'password = """ab"cd"""', 'password = """[redacted]"""'],
    ['compared', 'if (password === "hunter two")', 'if (password === "[redacted]")'],
    [
      'a header with quotes in it',
      'Authorization: Digest username="m", response="7x7x"\nnext',
      'Authorization: [redacted]\nnext',
    ],
    ['several', 'a_token=x1y2z3w4 b_secret=q1 c', 'a_token=[redacted] b_secret=[redacted] c'],
  ])('%s', (_name, text, expected) => expect(redact(text)).toBe(expected));

  it('cut off by our own limit', () => {
    const text = `${'x'.repeat(90)} ghp_${'a1B2'.repeat(9)} ${'y'.repeat(3_000)}`;
    for (let charsMax = 90; charsMax < 140; charsMax += 1) expect(shown(text, charsMax)).not.toContain('ghp_');
  });
});

describe('what stands below a quote that is never closed stays', () => {
  const below = '\n\n## State\nIt is "good", `so` it\'s done.';
  it.each<[string, string]>([
    ['parses ?x=1&password=" in a query', 'parses ?x=1&password="[redacted]'],
    ['the body begins {"apiKey": "', 'the body begins {"apiKey": "'],
    ["it's token='abc and", "it's token='[redacted]"],
    ['a secret=`ab', 'a secret=`[redacted]'],
    ['password = """abc', 'password = """[redacted]'],
    ['the tag <password> is', 'the tag <password>[redacted]'],
  ])('%s', (line, expected) => {
    expect(redact(line + below)).toBe(expected + below);
    expect(redact((line + below).replaceAll('\n', '\r\n'))).toBe((expected + below).replaceAll('\n', '\r\n'));
  });

  it('also in json', () =>
    expect(redact(JSON.stringify({ o: `x?password=" in a${below}` }))).toBe(
      JSON.stringify({ o: `x?password="[redacted]${below}` }),
    ));

  it('and between the two ends of a private key that are only named', () => {
    const text = (begin: string, end: string) =>
      `It takes out ${begin} and more.${below}\nsrc/model/redact.ts at 9d7dd8a2c1b0e5f4a3d2c1b0e9f8a7b6c5d4e3f2\nand ${end} too`;
    expect(redact(text('-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'))).toBe(
      text('[redacted]', '[redacted]'),
    );
  });
});

describe('ordinary text stays as it is', () => {
  it.each([
    'token count: 12000',
    'Token usage: 13104/980000; 966896 remaining',
    'max_tokens: 4096, input_tokens: 3, cache_read_input_tokens: 12,683',
    '{"max_tokens":4096,"output_tokens":12,"token_type":"bearer"}',
    'password field is required',
    'The password: must not be empty.',
    'secretary: Anna, the secretariat',
    'the tokenizer splits tokens; tokens: 12k',
    'function login(password: string, token?: string | null) {',
    'const { password, token } = request.body',
    `password=$DB_PASSWORD token=$\{TOKEN} key=<your key>`,
    `DB_PASSWORD: $\{{ secrets.DB_PASSWORD }}`,
    'api_key = process.env.API_KEY',
    'PWD=/root/project OLDPWD=/root',
    'primary_key: id, PRIMARY_KEY=id, sort_key=name, public_key: see below',
    'keyboard: qwertz, monkey: banana, key: value',
    'basic understanding, Basic authentication is needed, bearer of news',
    'git clone ssh://git@example.org/a/b.git https://git@example.org/c',
    'postgresql://watchkeeper@/watchkeeper?host=/var/lib/watchkeeper',
    'https://registry.example:8443/@scope/package?mail=a@b.example',
    'credentials: "same-origin", credentials: include',
    'docker run -u 1000:1000 image',
    'a task-0123456789abcdefghij and disk-0123456789abcdefghij',
    'commit 9d7dd8a2c1b0e5f4a3d2c1b0e9f8a7b6c5d4e3f2',
    'the session_id is 3f2a8c1e-0000-4000-8000-123456789abc',
    'password_file: /run/secrets/db, token_url: https://example.org/token, secret_name: db',
    'authorization: see the chapter on it',
    'It reads a cookie: the one that was set before.',
    'We need a token: ask Anna. A secret: none.',
    'https://docs.example.org/webhooks/about-webhooks-and-their-events',
    'the author: Anna, authority: manage, authors=3',
    '-----BEGIN CERTIFICATE----- is not -----BEGIN PRIVATE KEY',
    'in `password=` and `token=`, or with "secret=".',
    'the line -----BEGIN PUBLIC KEY----- and then text',
    'Users are identified by "their mail", and create user forms ask for a password "twice".',
    'ALTER USER app WITH LOGIN; the password is in the vault',
    'env:\n  - name: DB_PASSWORD\n    valueFrom: db-secrets\n  - name: A\n    value: b',
    'properties:\n  password:\n    type: string\n  token:\n    - a\n',
    'password:\n\n## State\nSomething',
    'setPasswordVisible("always"), getToken("header"), validatePassword("strongest")',
    'npw: 12, power_pw, pw = playwright, url_pat = "^/a", GITHUB_PATH=/usr/bin, pattern: b',
    'sbp_count dapi_client phx_router tvly-x dp.start.all pat-na1-short nfp_list',
    'setenv EDITOR vim; set -x; set -gx PATH /usr/bin',
    'passed: 12, passes=3, bypass: no, compass=north',
    'mysql -p shop, then mysql -P 3306 -u root; docker run -p 8080:80 image; ssh -p 2222 host; mkdir -p a/b',
    'docker login -p $PASSWORD, redis-cli -a "$REDIS_PASSWORD" ping, 7z x -p',
    'curl -u "$USER:$TOKEN" https://example.org; curl -o out -b cookies.txt',
    'The password is stored as a hash. The token is in the header. A secret to share.',
    'password | required | at least 8 characters, one figure',
    'The API key is needed, the access key as well, press any key to continue',
    'token OAuth2Client, secret Base64Encoder, password PBKDF2WithHmacSHA256, key utf8mb4_0900_ai_ci',
    'the token expired at 2026-11-19T05:11:38Z in version v1.2.3-beta.4 of x86_64-pc-linux-gnu',
    'cache_key: node-modules-9f86d081884c7d65, idempotency_key: 9f86d081884c7d65, sort_key=a1b2c3d4e5',
    'auth: none, require_auth=true, X_AUTH: enabled, bearer: yes, psk: wpa2',
    'vault login, cargo login and npm login ask for it; ngrok authtoken is set once',
    'login(request, response), client.auth(options), connect("localhost", 5432)',
    'src/main.ts:10:5:error:TS2304 and 10:20:30:40:50',
    'zip -P needs an argument; unzip -l a.zip; ssh-keygen -t ed25519 -f id_ed25519',
    'https://example.org/callback?code=404&state=1',
    'seed phrase: write it down',
    '{"value":"blue","name":"COLOUR"},{"value":"7","name":"TOKEN_COUNT"}',
    'passwords: [], tokens: [1200, 3400], tokens = {"input": 12, "output": 5}',
    '<password required="true"/> and <token_count unit="k">12</token_count>; token?: string; password!',
  ])('%s', (text) => expect(redact(text)).toBe(text));

  it('also beside a secret', () =>
    expect(redact('begin -----BEGIN PRIVATE KEY----- is how it begins, and then comes text')).toBe(
      'begin [redacted] is how it begins, and then comes text',
    ));
});
