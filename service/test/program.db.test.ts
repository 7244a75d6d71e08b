import { randomBytes } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../scripts/needs/free-port.ts'
import { isCrowded } from './harness/crowded.ts'
import { KEEPS_NOTHING_COMPILED, killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_program_tests'
const STOP_MS = 3_000
/** Some tests start the program twice, on a machine that may be busy with the other tests. */
const TEST_TIMEOUT_MS = 240_000

/** It starts, and then says so once a second. */
const WAITS_WITHIN_MS = 30_000

/** Settings with a server at a port where nothing listens. */
async function databaseThatIsAway(): Promise<Record<string, string>> {
  return {
    DATABASE_URL: `postgres://parley:parley@127.0.0.1:${await freePort()}/parley`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  }
}

describe('the program', { timeout: TEST_TIMEOUT_MS }, () => {
  const { kind } = inject('databaseTemplate')
  /** What the program does alike on every database is shown on the one that starts faster. */
  const isFaster = kind === 'server'
  let copy: Copy
  let settings: Record<string, string>

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    settings = { ...copy.settings, ADMIN_API_KEY }
  })

  afterEach(killPrograms)
  afterAll(() => copy.remove())

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'answers, and on %s ends with 0 in time and lets go of its port',
    async (signal) => {
      const program = startProgram({ ...settings, ...KEEPS_NOTHING_COMPILED })
      const address = await program.listening()
      // A busy machine may take longer to its first answer of the database than a probe waits for one.
      const isReady = async () => (await fetch(`${address}/readyz`)).json()
      await expect.poll(isReady).toEqual({ ok: true })

      const ending = await program.end(signal)
      expect(ending).toMatchObject({ code: 0, signal: null })
      expect(ending.afterMs < STOP_MS || isCrowded(), `${ending.afterMs} ms`).toBe(true)
      await expect(fetch(`${address}/livez`)).rejects.toThrow()
      expect(program.stderr()).toBe('')
    },
  )

  it.runIf(isFaster)('takes Ctrl-C, which arrives from the terminal and from npm, as one request to stop', async () => {
    const program = startProgram(settings)
    await program.listening()
    process.kill(program.pid, 'SIGINT')
    expect(await program.end('SIGINT')).toMatchObject({ code: 0 })
  })

  it.runIf(isFaster)('ends no sooner where its terminal is closed while it stops', async () => {
    const program = startProgram(settings)
    const address = await program.listening()
    const { port } = new URL(address)
    const asking = connect(Number(port), '127.0.0.1')
    const answered = text(asking).catch(String)
    const head = ['POST /api/v1/admin/tenants/validate HTTP/1.1', 'host: a', `x-admin-key: ${ADMIN_API_KEY}`]
    asking.write([...head, 'content-type: application/json', 'content-length: 2', '', '{'].join('\r\n'))
    // By the time that another one is answered it has begun.
    await fetch(`${address}/livez`)
    const askedAtMs = performance.now()
    process.kill(program.pid, 'SIGTERM')
    // Sooner, it would be taken for the same request.
    await until(() => performance.now() - askedAtMs > 700, { what: 'another signal to count' })
    process.kill(program.pid, 'SIGHUP')
    asking.write('}')
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /)
    expect(await program.end()).toMatchObject({ code: 0 })
  })

  it.runIf(isFaster)('logs nothing but JSON lines', async () => {
    const program = startProgram(settings)
    await program.listening()
    await program.end('SIGTERM')
    const lines = program.stdout().trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      expect.arrayContaining(['listening', 'stopping']),
    )
  })

  it.runIf(isFaster)('says after --welcome where it is and what to try, without telling the admin key', async () => {
    const program = startProgram(settings, ['--welcome'])
    const address = await program.listening()
    await program.end('SIGTERM')
    expect(program.stdout()).toContain(`Parley is running at ${address}`)
    expect(program.stdout()).toContain('ADMIN_API_KEY')
    expect(program.stdout()).not.toContain(ADMIN_API_KEY)
  })

  it.runIf(isFaster)('stops at once on bad settings, with a line for each that names its variable', async () => {
    const program = startProgram({ ...settings, PORT: 'http', LOG_LEVEL: 'loud' })
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr().trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^parley: PORT /),
      expect.stringMatching(/^parley: LOG_LEVEL /),
    ])
    expect(program.stdout()).toBe('')
  })

  it('does not start with another ENCRYPTION_KEY than the secrets in its database are sealed with', async () => {
    const first = startProgram(settings)
    await first.listening()
    await first.end('SIGTERM')
    const program = startProgram({ ...settings, ENCRYPTION_KEY: randomBytes(32).toString('base64') })
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr()).toMatch(/^parley: ENCRYPTION_KEY is not the key .*\n$/)
  })

  it.runIf(kind === 'embedded')(
    'makes no other key where that of its database is lost, as in a copy without it',
    async () => {
      const first = startProgram(settings)
      await first.listening()
      await first.end('SIGTERM')
      const key = join(settings['DATA_DIR'] ?? '', 'encryption.key')
      await rename(key, `${key}.kept`)
      const program = startProgram(settings)
      expect(await program.end()).toMatchObject({ code: 1 })
      expect(program.stderr()).toMatch(
        /^parley: ENCRYPTION_KEY is unset and there is no DATA_DIR\/encryption\.key, .*\n$/,
      )
      await expect(readFile(key)).rejects.toMatchObject({ code: 'ENOENT' })
      await rename(`${key}.kept`, key)
    },
  )

  it.runIf(isFaster)('says that the port is taken, and by which setting to move', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    const program = startProgram({ ...settings, PORT: String(port) })
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr()).toContain(`parley: PORT ${port} is in use`)
    other.close()
  })

  it.runIf(isFaster).each(['192.0.2.1', 'no.such.host.invalid'])(
    'says that it cannot listen on %s, and which setting it is',
    async (host) => {
      const program = startProgram({ ...settings, HOST: host })
      expect(await program.end()).toMatchObject({ code: 1 })
      expect(program.stderr()).toBe('parley: HOST is not an address of this machine.\n')
    },
  )

  it.runIf(isFaster)(
    'F53: waits for a database server that is not up yet, and stops when it is told to meanwhile',
    async () => {
      const program = startProgram({ ...settings, ...(await databaseThatIsAway()) })
      const waits = () => program.stdout().split('waiting for the database').length - 1
      await until(() => waits() >= 3, { what: 'the third time it says that it waits', timeoutMs: WAITS_WITHIN_MS })
      expect(await program.end('SIGTERM')).toMatchObject({ code: 0, signal: null })
    },
  )

  it.runIf(process.env['PARLEY_TEST_FULL'] && kind === 'server')(
    'F53: gives up after half a minute, and says what to do',
    async () => {
      const program = startProgram({ ...settings, ...(await databaseThatIsAway()) })
      const { code, afterMs } = await program.end()
      expect(code).toBe(1)
      expect(afterMs).toBeGreaterThan(29_000)
      expect(program.stderr()).toBe(
        'parley: The database of DATABASE_URL does not answer. Start it, or mend the address.\n',
      )
    },
  )

  it.runIf(kind === 'server').each([
    ['password', 'not-the-password', /refuses this service: password authentication failed .*Mend the address\.\n$/],
    ['pathname', '/no-such-database', /refuses this service: database "no-such-database" does not exist\. .*\n$/],
  ] as const)('does not wait for a server that refuses the %s of DATABASE_URL', async (part, value, sentence) => {
    const url = new URL(settings['DATABASE_URL'] ?? '')
    url[part] = value
    const program = startProgram({ ...settings, DATABASE_URL: url.href })
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr()).toMatch(sentence)
    expect(program.stdout()).toBe('')
  })

  it.runIf(kind === 'embedded')(
    'refuses a second program on the same folder in a line that says what to do',
    async () => {
      const first = startProgram(settings)
      await first.listening()
      const second = startProgram(settings)
      expect(await second.end()).toMatchObject({ code: 1 })
      expect(second.stderr()).toMatch(
        new RegExp(`^parley: The database in \\S+ is in use by process ${first.pid} .*DATA_DIR.*\\n$`),
      )
      expect((await first.end('SIGTERM')).code).toBe(0)
    },
  )

  it.runIf(kind === 'server')('runs several nodes on one server', async () => {
    const nodes = [startProgram(settings), startProgram(settings)]
    await Promise.all(nodes.map((node) => node.listening()))
    expect((await Promise.all(nodes.map((node) => node.end('SIGTERM')))).map(({ code }) => code)).toEqual([0, 0])
  })

  it.runIf(kind === 'embedded')('makes the demo tenant once: whoever deletes it does not find it again', async () => {
    const headers = { 'x-admin-key': ADMIN_API_KEY }
    const first = startProgram(settings)
    const before = await first.listening()
    expect((await fetch(`${before}/api/v1/admin/tenants/demo`, { method: 'DELETE', headers })).status).toBe(200)
    await first.end('SIGTERM')

    const second = startProgram(settings, ['--welcome'])
    const after = await second.listening()
    expect((await fetch(`${after}/api/v1/admin/tenants/demo`, { headers })).status).toBe(404)
    await second.end('SIGTERM')
    expect(second.stdout()).toContain('Parley is running')
    expect(second.stdout()).not.toContain('Demo')
  })

  it.runIf(kind === 'embedded')('gives a new installation an agent that answers a number', async () => {
    const fresh = await copyTemplate(inject('databaseTemplate'))
    const program = startProgram({ ...fresh.settings, ADMIN_API_KEY })
    const address = await program.listening()
    const get = async (path: string) =>
      (await fetch(`${address}/api/v1/admin/tenants/demo${path}`, { headers: { 'x-admin-key': ADMIN_API_KEY } })).json()
    expect(await get('/agent-versions')).toMatchObject({ versions: [{ agent_key: 'front-desk', status: 'published' }] })
    expect(await get('/phone-routes')).toMatchObject({
      phone_routes: [{ agent_key: 'front-desk', inbound_enabled: true }],
    })
    await program.end('SIGTERM')
    await fresh.remove()
  })
})
