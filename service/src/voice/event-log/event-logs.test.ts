import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { scratchFolder } from '../../../test/harness/scratch.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { SessionId } from '../../records/call-values.ts'
import { makeEventLogFiles } from '../../records/event-log-files.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { planWith } from '../session/call.fixture.ts'
import { unpackChunks } from './chunks.ts'
import { makeEventLogs } from './event-logs.ts'
import { readLines } from './lines.ts'

const TENANT = toRuntime({ tenant_id: 'acme' as TenantId }, { account_sid: null, auth_token: null, from_number: null })
const CALL = { tenant: TENANT, callSid: 'CA1', sessionId: 'session' as SessionId, epoch: 2 }
const HEAD = { v: 1, version: '0', startUs: 0, plan: planWith(), resumption: null } as const

let folder: string
beforeEach(async () => {
  folder = await scratchFolder()
})
afterEach(() => rm(folder, { recursive: true }))

function logs(below = folder) {
  const warned: unknown[] = []
  const log = { warn: (...told: unknown[]) => void warned.push(told) }
  return { warned, ...makeEventLogs({ clock: new TestClock(), log, files: makeEventLogFiles(below) }) }
}

it('writes the log of a session where nobody else reads it, and waits for that at the end', async () => {
  const { of, close, warned } = logs()
  const eventLog = of(CALL)
  eventLog?.begin(HEAD)
  eventLog?.step(5, { type: 'opened' }, [{ type: 'hang_up' }])
  eventLog?.close()
  await close()
  const file = join(folder, 'acme', 'session', '2.events')
  const { steps, isWhole } = readLines(unpackChunks(await readFile(file)))
  expect([steps, isWhole]).toEqual([[{ atUs: 5, event: { type: 'opened' }, sketch: '{"type":"hang_up"}' }], true])
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect(warned).toEqual([])
})

it('tells once of a log that the disk does not take', async () => {
  const notAFolder = join(folder, 'file')
  await writeFile(notAFolder, '')
  const { of, close, warned } = logs(notAFolder)
  const eventLog = of(CALL)
  eventLog?.begin(HEAD)
  eventLog?.close()
  await close()
  expect(warned).toMatchObject([[{ tenant_id: 'acme', call_sid: 'CA1' }, 'the event log of a call is lost']])
})

it('forgets what a session had when that is erased', async () => {
  const files = makeEventLogFiles(folder)
  const key = { tenantId: TENANT.tenant_id, sessionId: CALL.sessionId, epoch: 1 }
  await files.append(key, Buffer.from('x'))
  await files.remove(key.tenantId, key.sessionId)
  await files.remove(key.tenantId, key.sessionId)
  await expect(stat(join(folder, 'acme', 'session'))).rejects.toThrow('ENOENT')
})
