// The limit of a Node.js process: node:http that answers everything with one constant Buffer. `--port N
// --bytes N --encoding gzip`
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { port: { type: 'string' }, bytes: { type: 'string' }, encoding: { type: 'string' } },
});
const body = Buffer.alloc(Number(values.bytes), 'x');
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(body.length),
  ...(values.encoding === undefined ? {} : { 'Content-Encoding': values.encoding }),
};

const server = createServer((_, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(Number(values.port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
