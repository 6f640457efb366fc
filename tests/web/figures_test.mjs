// Checks the figures that report.html formats in the browser against those of src/base/figures.cpp, which is tested with
// the same file.
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const script = readFileSync(join(root, 'src/web/assets/figures.js'), 'utf8');
const figures = new Function(script + '\nreturn {duration, percent, amount: (value) => amount(value, \'B\')};')();

let cases = 0;
let failures = 0;
for (const line of readFileSync(join(root, 'tests/golden/figures/figures.tsv'), 'utf8').split('\n')) {
  if (line === '') continue;
  const [kind, value, expected] = line.split('\t');
  const shown = figures[kind](Number(value));
  ++cases;
  if (shown === expected) continue;
  ++failures;
  console.error(`${kind} of ${value}: '${shown}', not '${expected}'`);
}
for (const kind of Object.keys(figures)) {
  if (figures[kind](null) === '–' && figures[kind](undefined) === '–') continue;
  ++failures;
  console.error(`${kind} of nothing: '${figures[kind](null)}', not '–'`);
}
console.log(`${cases} figures, ${failures} wrong`);
process.exit(cases > 0 && failures === 0 ? 0 : 1);
