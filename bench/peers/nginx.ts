// nginx with one worker, which answers everything with one file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, startServer } from '../process.ts';

const configuration = (folder: string, port: number): string => `
daemon off;
# One process: the same that a Node.js server has.
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  default_type application/json;
  open_file_cache max=10;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    location / { root ${folder}; try_files /answer.json =404; }
  }
}
`;

/** Starts nginx with an answer. */
export function startNginx(command: string, folder: string, body: Buffer): Promise<Running> {
  const own = join(folder, 'nginx');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'answer.json'), body);
  return startServer(own, command, (port) => {
    const path = join(own, 'nginx.conf');
    writeFileSync(path, configuration(own, port));
    return ['-p', own, '-e', 'stderr', '-c', path];
  });
}
