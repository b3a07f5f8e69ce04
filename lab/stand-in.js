// stand-in.js NAME ARGUMENT...: runs one of the programs in stand-ins/, from inside a simulated machine.
import "tsx";

const [, , name, ...args] = process.argv;
const { main } = await import(`./stand-ins/${name}.ts`);
process.exitCode = await main(args);
