import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { SessionId } from './call-values.ts'
import { NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeOutcomes, type Outcomes } from './outcomes.ts'
import { makeSessions } from './sessions.ts'

const test = useDatabase()
const acme = tenantTold('acme')
let outcomes: Outcomes
let sessionId: SessionId

beforeEach(async () => {
  await makeTenant(test.db, 'acme')
  outcomes = makeOutcomes({ db: test.db })
  const sessions = makeSessions({ db: test.db, clock: new TestClock(), nodeId: NODE })
  sessionId = (await sessions.open(acme, someCall('CA1'))).sessionId
})

function stored() {
  return test.db.selectFrom('voice_sessions').select(['tags', 'outcome', 'outcome_notes']).executeTakeFirst()
}

describe('recording an outcome', () => {
  it('adds tags, each once, and sets the outcome and the notes', async () => {
    const change = { tags: ['vip', ' booking ', '', 'vip'], outcome: 'booked', notes: 'Monday at nine.' }
    expect(await outcomes.record(acme.tenant_id, sessionId, change)).toEqual(['booking', 'vip'])
    expect(await stored()).toEqual({ tags: ['booking', 'vip'], outcome: 'booked', outcome_notes: 'Monday at nine.' })
  })

  it('keeps what was recorded before and is not said again', async () => {
    await outcomes.record(acme.tenant_id, sessionId, { tags: ['vip'], outcome: 'booked', notes: 'a\0b' })
    await outcomes.record(acme.tenant_id, sessionId, { tags: ['late'], outcome: 'moved', notes: null })
    expect(await stored()).toEqual({ tags: ['late', 'vip'], outcome: 'moved', outcome_notes: 'ab' })
  })

  it('loses no tag of twenty that are recorded at once', async () => {
    const tags = Array.from({ length: 20 }, (_, n) => `tag-${String(n).padStart(2, '0')}`)
    const record = (tag: string) =>
      outcomes.record(acme.tenant_id, sessionId, { tags: [tag], outcome: null, notes: null })
    await Promise.all(tags.map(record))
    expect((await stored())?.tags).toEqual(tags)
  })

  it('keeps fifty tags, those first that were there before', async () => {
    const tagsFrom = (first: number) => Array.from({ length: 20 }, (_, n) => `tag-${first + n}`)
    const record = (tags: string[]) => outcomes.record(acme.tenant_id, sessionId, { tags, outcome: null, notes: null })
    for (const first of [80, 60, 40]) await record(tagsFrom(first))
    expect(await record(['tag-10', 'tag-99'])).toEqual(
      Array.from({ length: 50 }, (_, n) => `tag-${n < 10 ? 40 + n : 50 + n}`),
    )
  })

  it("knows no unknown session and none of another tenant's", async () => {
    const globex = await makeTenant(test.db, 'globex')
    const change = { tags: ['vip'], outcome: null, notes: null }
    await expect(outcomes.record(globex, sessionId, change)).rejects.toMatchObject({ code: 'not_found' })
    expect(await stored()).toMatchObject({ tags: [] })
  })
})
