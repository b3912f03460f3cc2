// What a run of vitest came to, for the runner: every test with the names of its errors, and the time of every file.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const firstLine = (text) => (text ?? '').trim().split('\n')[0].slice(0, 200);

function nameOf(test) {
  const names = [test.name];
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) names.unshift(parent.name);
  // As vitest itself joins them for `-t`.
  return names.join(' ');
}

function told(test) {
  const { state, errors = [] } = test.result();
  return {
    name: nameOf(test),
    state,
    errors: errors.map(({ name, message }) => ({ name, message: firstLine(message) })),
  };
}

export default class {
  onTestRunEnd(modules, unhandled) {
    const files = modules.map((module) => ({
      file: path.relative(process.cwd(), module.moduleId),
      seconds: Math.round(module.diagnostic().duration / 1000),
      tests: [...module.children.allTests()].map(told),
      // Of the file itself or a group in it: no test has them.
      errors: [module, ...module.children.allSuites()].flatMap((each) =>
        each.errors().map(({ message }) => firstLine(message)),
      ),
    }));
    const errors = unhandled.map(({ message }) => firstLine(message));
    writeFileSync(process.env.TEST_RESULT, JSON.stringify({ files, errors }));
  }
}
