import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { makeReady } from '../src/database-start.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { openServer } from '../src/platform/db/server.ts'
import { makeLog } from '../src/platform/log.ts'
import { useDatabase } from './harness/database.ts'
import { killPrograms, startProgram } from './harness/program.ts'

const PASSWORD = 'p@ss:/%w'

/** On a server, whose databases and roles are whatever an operator makes them. */
describe.runIf(inject('databaseTemplate').kind === 'server')('the program', () => {
  const test = useDatabase()
  const name = () => `parley_unfit_${randomBytes(6).toString('hex')}`
  const run = (statement: string) => sql.raw(statement).execute(test.db)

  afterEach(killPrograms)

  async function makeDatabase(as = ''): Promise<URL> {
    const database = name()
    await run(`create database ${database} ${as}`)
    onTestFinished(async () => void (await run(`drop database ${database} with (force)`)))
    const url = new URL(test.settings['DATABASE_URL'] ?? '')
    url.pathname = `/${database}`
    return url
  }

  /** No superuser, as the roles of services are. */
  async function makeRole(as = ''): Promise<string> {
    const role = name()
    await run(`create role ${role} login password '${PASSWORD}' ${as}`)
    onTestFinished(async () => void (await run(`drop role ${role}`)))
    return role
  }

  const start = (url: URL) => startProgram({ ...test.settings, DATABASE_URL: url.href })
  const loginAs = (url: URL, role: string) =>
    Object.assign(url, { username: role, password: encodeURIComponent(PASSWORD) })

  it.each(['LATIN1', 'SQL_ASCII'])('begins no database in which not everything can be said (%s)', async (encoding) => {
    const url = await makeDatabase(
      `encoding '${encoding}' lc_collate 'C' lc_ctype 'C' locale_provider libc template template0`,
    )
    const program = start(url)
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr()).toMatch(new RegExp(`^parley: The database .* has the encoding ${encoding}, .* UTF8.*\\n$`))
  })

  it('says which right its role lacks', async () => {
    const role = await makeRole()
    const program = start(loginAs(await makeDatabase(), role))
    expect(await program.end()).toMatchObject({ code: 1 })
    expect(program.stderr()).toMatch(
      /^parley: The role of DATABASE_URL .*permission denied for schema public\. Make .*\n$/,
    )
  })

  it('is brought up to date by who may have two connections', async () => {
    const role = await makeRole('connection limit 2')
    const url = loginAs(await makeDatabase(`owner ${role}`), role)
    const database = openServer({ url: url.href, applicationName: 'few' })
    onTestFinished(() => database.close())
    const silent = makeLog({ level: 'error', secrets: [], destination: { write: () => undefined } })
    await makeReady(database, systemClock, silent)
    const applied = await database.db.selectFrom('schema_migrations').select('name').execute()
    expect(applied).toContainEqual({ name: '0115_replica_identity' })
  })

  it('runs as the owner of its database, who may do nothing beside', async () => {
    const role = await makeRole()
    const program = start(loginAs(await makeDatabase(`owner ${role}`), role))
    const address = await program.listening()
    // A busy machine may take longer to its first answer of the database than a probe waits for one.
    await expect.poll(async () => (await fetch(`${address}/readyz`)).status).toBe(200)
    expect((await program.end('SIGTERM')).code).toBe(0)
  })
})
