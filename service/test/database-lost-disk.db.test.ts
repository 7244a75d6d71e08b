import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { GatedDatabase } from './harness/gated-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { startTalking } from './harness/talking-calls.ts'

const form = {
  ...{ CallSid: 'CT1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'completed' },
}

describe('while the database is away, and the disk takes nothing either', async () => {
  const test = useDatabase()
  const gate = new GatedDatabase()
  const blocked = await mkdtemp(join(tmpdir(), 'blocked-'))
  await writeFile(join(blocked, 'journal'), '')
  const app = useCallApp(test, {
    settings: { DATA_DIR: blocked },
    async database() {
      gate.isAway = false
      return gate.of(test.database)
    },
  })

  it('the service starts and says so; a carrier is asked to come again, though its call ends; it is stored once', async () => {
    const none = 'the journal has no files: while the database is away it waits in memory alone'
    expect(app.served.logLines()).toContainEqual(expect.objectContaining({ level: 'error', msg: none }))
    const [call] = await startTalking(app, ['CT1'])
    call?.talk()
    gate.isAway = true
    expect((await app.post('/api/v1/call-status', { form })).status).toBe(503)
    await app.pass(() => call?.client.closeCode, 'the end of the stream')
    await app.clock.advance(5_000)
    gate.isAway = false
    const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
    await app.pass(async () => (await session()).ended_at, 'the end to be written down')
    const turns = await test.db.selectFrom('transcript_turns').select('text').orderBy('seq').execute()
    expect(turns.map(({ text }) => text)).toEqual(expect.arrayContaining(call?.said.slice(0, 2) ?? []))
    expect((await app.post('/api/v1/call-status', { form })).status).toBe(200)
  })
})
