// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server for one test, which can restart and kill it, and proxies in front of a PostgreSQL server.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { atEnd, freePort, until } from './harness.mjs';

const user = () => {
    if (process.getuid() !== 0) return {};
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    return { uid: id('-u'), gid: id('-g') }; // PostgreSQL and pgbouncer refuse to run as root
};

// findPostgres(): the folder of PostgreSQL's programs; undefined if PostgreSQL is not installed.
export async function findPostgres() {
    const versions = await readdir('/usr/lib/postgresql').catch(() => []);
    const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
    return newest && `/usr/lib/postgresql/${newest}/bin`;
}

async function folderFor(t, as) {
    const folder = await mkdtemp('/tmp/opsbrain-database-');
    if (as.uid !== undefined) await chown(folder, as.uid, as.gid);
    atEnd(t, () => rm(folder, { recursive: true, force: true }));
    return folder;
}

const connects = (port) =>
    new Promise((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () => resolve(socket.destroy() && true));
        socket.on('error', () => resolve(false));
    });

class Postgres {
    async start() {
        const usual = ['listen_addresses=127.0.0.1', 'fsync=off', 'max_connections=200'];
        const options = ['-k', this.folder, '-p', this.port, ...[...usual, ...this.settings].flatMap((setting) => ['-c', setting])];
        await until('PostgreSQL to start', async () => {
            if (this.program === undefined || this.program.exitCode !== null || this.program.signalCode !== null) {
                this.program = spawn(`${this.bin}/postgres`, ['-D', `${this.folder}/data`, ...options], { stdio: 'ignore', ...this.as });
                this.ended = once(this.program, 'exit');
            }
            return this.try('SELECT 1');
        }, 60_000);
    }

    async end(signal) {
        this.program.kill(signal);
        await this.ended;
    }

    // restart(): restarts the server as an administrator would. This ends its sessions.
    async restart() {
        await this.end('SIGINT');
        await this.start();
    }

    async killAndRestart() {
        await this.end('SIGKILL');
        await this.start();
    }

    query(statement) {
        const place = `postgresql://postgres@/postgres?host=${this.folder}&port=${this.port}`;
        return execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', place, '-c', statement], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    }

    try(statement) {
        try {
            return this.query(statement) && true;
        } catch {
            return false;
        }
    }

    rows = (query) => JSON.parse(this.query(`SELECT coalesce(json_agg(t), '[]') FROM (${query}) AS t`));
}

// startPostgres(t, bin, {settings, prepare}): starts a new, empty server, whose database `postgres` is for opsbrain. Before the
// start, calls prepare(folder, owner) with the server's folder and the owner of its files: {uid, gid} if the tests run as root,
// otherwise {}.
export async function startPostgres(t, bin, { settings = [], prepare = async () => {} } = {}) {
    const as = user();
    const server = new Postgres();
    Object.assign(server, { bin, as, settings, folder: await folderFor(t, as), port: await freePort() });
    execFileSync(`${bin}/initdb`, ['-D', `${server.folder}/data`, '-U', 'postgres', '-A', 'trust', '--locale=C', '-E', 'UTF8', '--no-sync'], { stdio: 'ignore', cwd: '/', ...as });
    await prepare(server.folder, as);
    atEnd(t, () => server.end('SIGQUIT'));
    await server.start();
    return server;
}

export const POOLER = '/usr/sbin/pgbouncer';

// startPooler(t, database): starts pgbouncer, in transaction mode, in front of a database; returns pgbouncer's port. `database` is
// a connection string such as "host=... port=... user=...".
export async function startPooler(t, database) {
    const as = user();
    const folder = await folderFor(t, as);
    const port = await freePort();
    const settings = `[databases]\n* = ${database}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}
auth_type = any\npool_mode = transaction\nunix_socket_dir =\nserver_login_retry = 1\n`;
    await writeFile(path.join(folder, 'pgbouncer.ini'), settings);
    const program = spawn(POOLER, ['-q', path.join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...as });
    const ended = once(program, 'exit');
    atEnd(t, async () => program.kill('SIGKILL') && ended);
    await until('pgbouncer to start', () => connects(port));
    return port;
}

// Toxiproxy in front of a server: it delays traffic, or lets nothing through.
class Toxiproxy {
    async ask(method, where, body) {
        const answer = await fetch(`http://127.0.0.1:${this.control}${where}`, { method, body: body && JSON.stringify(body) });
        if (!answer.ok) throw new Error(`toxiproxy: ${await answer.text()}`);
    }

    // during(toxic, work): does the work while the toxic (Toxiproxy's term for a fault) applies in both directions.
    async during(toxic, work) {
        const streams = ['upstream', 'downstream'];
        for (const stream of streams) await this.ask('POST', '/proxies/postgres/toxics', { name: stream, stream, ...toxic });
        await work();
        for (const stream of streams) await this.ask('DELETE', `/proxies/postgres/toxics/${stream}`);
    }

    whileDelayed(ms, work) {
        return this.during({ type: 'latency', attributes: { latency: ms } }, work);
    }

    whileCutOff(work) {
        return this.during({ type: 'timeout', attributes: { timeout: 0 } }, work);
    }
}

// startToxiproxy(t, file, port): starts Toxiproxy, whose program is `file`, in front of the server on this port.
export async function startToxiproxy(t, file, port) {
    const proxy = Object.assign(new Toxiproxy(), { control: await freePort(), port: await freePort() });
    const program = spawn(file, ['-port', String(proxy.control)], { stdio: 'ignore' });
    const ended = once(program, 'exit');
    atEnd(t, async () => program.kill('SIGKILL') && ended);
    await until('toxiproxy to start', () => connects(proxy.control));
    await proxy.ask('POST', '/proxies', { name: 'postgres', listen: `127.0.0.1:${proxy.port}`, upstream: `127.0.0.1:${port}` });
    return proxy;
}
