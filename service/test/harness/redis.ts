import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { env } from 'node:process'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../../../scripts/needs/free-port.ts'

/** The password of every Redis of the tests: it must show in no log. */
const REDIS_PASSWORD = 'password-of-the-redis-of-the-tests'

/** A Redis of a test's own, which keeps nothing on disk: who starts it again finds it empty. */
export class RedisServer {
  #port = 0
  #child: ChildProcess | null = null
  readonly #more: string[]

  /** @param more arguments of the server. */
  constructor(more: string[] = []) {
    this.#more = more
  }

  /** Known once it was started. */
  get port(): number {
    return this.#port
  }

  get url(): string {
    return this.urlBy(this.port)
  }

  /** The same one by way of a proxy. */
  urlBy(port: number): string {
    return `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}`
  }

  get isRunning(): boolean {
    return this.#child !== null
  }

  /** Makes it forget everything. */
  async flush(): Promise<void> {
    const redis = new Redis(this.url)
    await redis.flushall()
    redis.disconnect()
  }

  /** Resolves once it answers; always on the same port. */
  async start(): Promise<void> {
    const { PARLEY_TEST_REDIS_SERVER: program = 'redis-server' } = env
    if (this.#port === 0) this.#port = await freePort()
    const settings = ['--bind', '127.0.0.1', '--port', String(this.port), '--requirepass', REDIS_PASSWORD]
    const kept = ['--save', '', '--appendonly', 'no', '--dir', tmpdir()]
    const child = spawn(program, [...settings, ...kept, ...this.#more], { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#child = child
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => text.includes('Ready to accept connections') && resolve())
      child.once('error', (cause) =>
        reject(new Error('There is no Redis server in PATH: `npm test` finds or installs one.', { cause })),
      )
      child.once('exit', () => reject(new Error('the Redis server did not start')))
    })
  }

  /** As if its machine had failed: nothing is said goodbye to. Repeating it does nothing. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

/** Gives a test file a Redis, which is up before its first test and stopped after the last. */
export function useRedis(): RedisServer {
  const server = new RedisServer()
  beforeAll(() => server.start())
  afterAll(() => server.stop())
  return server
}
