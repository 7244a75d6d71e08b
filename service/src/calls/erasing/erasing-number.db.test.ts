import { tmpdir } from 'node:os'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import { until } from '../../../test/harness/wait.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { makeSealer } from '../../kernel/seal.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import { makeRecordingFiles } from '../../records/recording-files.ts'
import { makeNumberErasures } from './erase-number.ts'
import { makeEraseSession } from './erase-session.ts'
import { makeErasingNumber } from './erasing-number.ts'

const test = useDatabase()
const sealer = makeSealer(Buffer.alloc(32, 7))
const quiet = { warn: () => {}, info: () => {}, error: () => {} }
const ACME = 'acme' as TenantId
const NUMBERS = ['+12025550141', '+12025550142', '+12025550143', '+12025550144', '+12025550145'] as PhoneNumber[]

beforeEach(async () => {
  await makeTenantWithToken(test.db, ACME)
})

/** Requests that nobody works on yet. */
async function writtenDown(clock: TestClock): Promise<string[]> {
  const erasures = makeNumberErasures({ db: test.db, clock, sealer, erasing: { goOn: async () => {} } })
  const ids = []
  for (const phone of NUMBERS) ids.push((await erasures.request(ACME, phone, { kind: 'key', name: 'API key' })).id)
  return ids
}

/** Every erasure looks for its tenant when it is begun, and goes on once `goOn` is called. */
function held(clock: TestClock) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>()
  const begun: TenantId[] = []
  const tenants = {
    async get(id: TenantId) {
      begun.push(id)
      await promise
      return tenantTold(id)
    },
  }
  const given = { db: test.db, clock, log: quiet, tenants, sealer, isStopping: () => false }
  const erase = makeEraseSession({ ...given, files: makeRecordingFiles(tmpdir()) })
  return { goOn, begun, erasing: makeErasingNumber({ ...given, erase }) }
}

const completed = () =>
  test.db.selectFrom('number_erasures').select('id').where('completed_at', 'is not', null).execute()

describe('many requests at once', () => {
  it('are worked on two at a time, one after the other', async () => {
    const clock = new TestClock()
    const ids = await writtenDown(clock)
    const { goOn, begun, erasing } = held(clock)
    const asked = Promise.all(ids.map((id) => erasing.goOn(id)))
    await until(() => begun.length >= 2, { what: 'two that are worked on' })
    goOn()
    await asked
    expect(await completed()).toHaveLength(NUMBERS.length)
  })

  it('are left to the sweep where the time that they are waited for is over before their turn', async () => {
    const clock = new TestClock()
    const ids = await writtenDown(clock)
    const { goOn, begun, erasing } = held(clock)
    const asked = Promise.all(ids.map((id) => erasing.goOn(id)))
    await until(() => begun.length >= 2, { what: 'two that are worked on' })
    await clock.advance(5_000)
    goOn()
    await asked
    expect([begun.length, await completed()]).toEqual([2, []])
    expect(await erasing.sweep()).toBe(NUMBERS.length)
  })
})
