// One expression evaluated by feelin: prints microseconds of processor time per evaluation, the
// best of three rounds.
import { evaluate } from "feelin";

const [text, context, seconds] = process.argv.slice(2);
const variables = JSON.parse(context);
const once = () => evaluate(text, variables);

for (let n = 0; n < 200; n++) once(); // warm
let each = Infinity;
for (let round = 0; round < 3; round++) {
  const start = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() - start < (Number(seconds) * 1000) / 3) {
    for (let n = 0; n < 50; n++) once();
    count += 50;
  }
  const { user, system } = process.cpuUsage(before);
  each = Math.min(each, (user + system) / count);
}
const found = once();
const value = found && typeof found === "object" && "value" in found ? found.value : found;
console.log(JSON.stringify({ us: each, value }));
