import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { AgentId, TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { type AgentVersions, makeAgentVersions, versionEtag } from './agent-versions.ts'
import { makeAgents } from './agents.ts'

const test = useDatabase()
const clock = new TestClock()
let acme: TenantId
let agentId: AgentId
let versions: AgentVersions

beforeEach(async () => {
  acme = await makeTenant(test.db, 'acme')
  agentId = await makeAgent('support')
  versions = makeAgentVersions({ db: test.db, clock })
})

async function makeAgent(agentKey: string): Promise<AgentId> {
  const agents = makeAgents({ db: test.db, clock })
  return (await agents.create(acme, { agentKey, name: 'Support', description: '' }, THE_SYSTEM)).id
}

async function statuses(): Promise<string[]> {
  const { rows } = await versions.list(acme, agentId, readPage({}))
  return rows.toSorted((a, b) => a.version_number - b.version_number).map(({ status }) => status)
}

describe('agent versions', () => {
  it('are numbered from 1 for each agent, without a gap or a repeat, also when they are made at once', async () => {
    const other = await makeAgent('sales')
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => versions.create(acme, index % 2 ? agentId : other, {}, THE_SYSTEM)),
    )
    for (const id of [agentId, other]) {
      const numbers = made.filter(({ agent_id }) => agent_id === id).map(({ version_number }) => version_number)
      expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }
  })

  it('are newer when their number is higher, also when they are made at once', async () => {
    const live = makeAgentVersions({ db: test.db, clock: systemClock })
    await Promise.all(Array.from({ length: 10 }, () => live.create(acme, agentId, {}, THE_SYSTEM)))
    const { rows } = await live.list(acme, agentId, readPage({}))
    const byNumber = rows.toSorted((a, b) => a.version_number - b.version_number)
    const instants = byNumber.map(({ created_at }) => created_at.getTime())
    expect(instants).toEqual(instants.toSorted((a, b) => a - b))
  })

  it('come with the names of their agent and all seven texts', async () => {
    const version = await versions.create(acme, agentId, { greeting: 'Hello.' }, THE_SYSTEM)
    expect(version).toMatchObject({ agent_key: 'support', agent_name: 'Support', status: 'draft', published_at: null })
    expect(version.config).toEqual({
      agent_name: '',
      assistant_profile: '',
      chat_model: '',
      greeting: 'Hello.',
      instructions: '',
      realtime_model: '',
      voice: '',
    })
  })
})

describe('an extraction of former bounds', () => {
  const heavy = { type: 'object', oneOf: Array.from({ length: 200 }, (_, at) => ({ const: at })) }
  const refused = { code: 'invalid_request', message: expect.stringMatching(/^config.extraction .* 100 alternatives/) }

  it('may be had by the versions that follow, whatever else is wrong with them, and by those of no other tenant', async () => {
    await expect(versions.create(acme, agentId, { extraction: heavy }, THE_SYSTEM)).rejects.toMatchObject(refused)
    const { id } = await versions.create(acme, agentId, { extraction: { type: 'object' } }, THE_SYSTEM)
    const config = JSON.stringify({ extraction: heavy })
    await sql`update agent_versions set config = config || ${config}::jsonb where id = ${id}`.execute(test.db)

    const next = await versions.create(acme, agentId, { extraction: heavy }, THE_SYSTEM)
    expect(next.config.extraction).toEqual(heavy)
    const changed = { config: { extraction: heavy, greeting: 'Hello.' } }
    expect((await versions.replaceConfig(acme, next.id, changed, THE_SYSTEM)).config.greeting).toBe('Hello.')
    const wrong = { extraction: heavy, tools: ['a', 'a'] }
    await expect(versions.create(acme, agentId, wrong, THE_SYSTEM)).rejects.toMatchObject({
      message: expect.stringMatching(/^config.tools.1 is named twice/),
    })
    const globex = await makeTenant(test.db, 'globex')
    await expect(versions.create(globex, agentId, { extraction: heavy }, THE_SYSTEM)).rejects.toMatchObject(refused)
  })
})

describe('publish', () => {
  it('takes the place of the version that was published', async () => {
    const [first, second] = [
      await versions.create(acme, agentId, {}, THE_SYSTEM),
      await versions.create(acme, agentId, {}, THE_SYSTEM),
    ]
    await versions.publish(acme, first.id, THE_SYSTEM)
    await clock.advance(1000)
    const published = await versions.publish(acme, second.id, THE_SYSTEM)
    expect(published).toMatchObject({ status: 'published', published_at: new Date(clock.now()) })
    expect(await statuses()).toEqual(['superseded', 'published'])
  })

  it('changes nothing when it is repeated', async () => {
    const { id } = await versions.create(acme, agentId, {}, THE_SYSTEM)
    const first = await versions.publish(acme, id, THE_SYSTEM)
    await clock.advance(1000)
    expect(await versions.publish(acme, id, THE_SYSTEM)).toEqual(first)
  })

  it('goes back to a version that was superseded', async () => {
    const [first, second] = [
      await versions.create(acme, agentId, {}, THE_SYSTEM),
      await versions.create(acme, agentId, {}, THE_SYSTEM),
    ]
    await versions.publish(acme, first.id, THE_SYSTEM)
    await versions.publish(acme, second.id, THE_SYSTEM)
    await clock.advance(1000)
    expect((await versions.publish(acme, first.id, THE_SYSTEM)).published_at).toEqual(new Date(clock.now()))
    expect(await statuses()).toEqual(['published', 'superseded'])
  })

  it('leaves exactly one version published, whoever publishes how many at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => versions.create(acme, agentId, {}, THE_SYSTEM)))
    const node = makeAgentVersions({ db: (await test.anotherNode()).db, clock })
    await Promise.all(made.map(({ id }, index) => (index % 2 ? node : versions).publish(acme, id, THE_SYSTEM)))
    expect((await statuses()).toSorted()).toEqual(['published', ...Array.from({ length: 19 }, () => 'superseded')])
  })

  it('leaves the published versions of other agents alone', async () => {
    const other = await versions.create(acme, await makeAgent('sales'), {}, THE_SYSTEM)
    await versions.publish(acme, other.id, THE_SYSTEM)
    await versions.publish(acme, (await versions.create(acme, agentId, {}, THE_SYSTEM)).id, THE_SYSTEM)
    const { rows } = await versions.list(acme, other.agent_id, readPage({}))
    expect(rows.map(({ status }) => status)).toEqual(['published'])
  })
})

describe('replaceConfig', () => {
  it('replaces the config of a draft as a whole', async () => {
    const draft = await versions.create(acme, agentId, { greeting: 'Hello.', dtmf: { max_digits: 4 } }, THE_SYSTEM)
    await clock.advance(1000)
    const changed = await versions.replaceConfig(acme, draft.id, { config: { voice: 'marin' } }, THE_SYSTEM)
    expect(changed).toMatchObject({ config: { greeting: '', voice: 'marin' }, updated_at: new Date(clock.now()) })
    expect(changed.config).not.toHaveProperty('dtmf')
  })

  it('leaves a version alone that was published, and one that is superseded', async () => {
    const draft = await versions.create(acme, agentId, { greeting: 'Hello.' }, THE_SYSTEM)
    await versions.publish(acme, draft.id, THE_SYSTEM)
    await expect(versions.replaceConfig(acme, draft.id, { config: {} }, THE_SYSTEM)).rejects.toMatchObject({
      code: 'conflict',
    })
    await versions.publish(acme, (await versions.create(acme, agentId, {}, THE_SYSTEM)).id, THE_SYSTEM)
    await expect(versions.replaceConfig(acme, draft.id, { config: {} }, THE_SYSTEM)).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('lets one of several at once write over what all of them have read', async () => {
    // In the first round their connections are opened one after another.
    for (let round = 0; round < 5; round += 1) {
      const draft = await versions.create(acme, agentId, { greeting: 'before' }, THE_SYSTEM)
      const ifMatch = versionEtag(draft)
      const written = await Promise.allSettled(
        Array.from({ length: 5 }, (_, n) =>
          versions.replaceConfig(acme, draft.id, { config: { greeting: `by ${n}` }, ifMatch }, THE_SYSTEM),
        ),
      )
      const refused = written.filter((each) => each.status === 'rejected').map(({ reason }) => reason.code)
      expect(refused).toEqual(Array(4).fill('precondition_failed'))
    }
  })

  it('never changes what is published, however the two meet', async () => {
    for (let round = 0; round < 10; round += 1) {
      const draft = await versions.create(acme, agentId, { greeting: 'before' }, THE_SYSTEM)
      const [changed] = await Promise.allSettled([
        versions.replaceConfig(acme, draft.id, { config: { greeting: 'after' } }, THE_SYSTEM),
        versions.publish(acme, draft.id, THE_SYSTEM),
      ])
      const { rows } = await versions.list(acme, agentId, readPage({}))
      const published = rows.find(({ id }) => id === draft.id)
      expect(published?.config.greeting).toBe(changed.status === 'fulfilled' ? 'after' : 'before')
    }
  })

  it('is published only as it was read, however a write meets that', async () => {
    for (let round = 0; round < 10; round += 1) {
      const draft = await versions.create(acme, agentId, { greeting: 'read' }, THE_SYSTEM)
      const [, asked] = await Promise.allSettled([
        versions.replaceConfig(acme, draft.id, { config: { greeting: 'unseen' } }, THE_SYSTEM),
        versions.publish(acme, draft.id, THE_SYSTEM, versionEtag(draft)),
      ])
      const { rows } = await versions.list(acme, agentId, readPage({}))
      const stored = rows.find(({ id }) => id === draft.id)
      const isPublished = asked.status === 'fulfilled'
      expect(stored).toMatchObject(
        isPublished
          ? { status: 'published', config: { greeting: 'read' } }
          : { status: 'draft', config: { greeting: 'unseen' } },
      )
    }
  })

  it('are warned of names of tools only when those of the tenant can be looked up: a write that is done is no failure', async () => {
    const { config } = await versions.create(acme, agentId, { tools: ['order_status'] }, THE_SYSTEM)
    expect(await versions.warnings(acme, config)).toHaveLength(1)
    const gated = new GatedDatabase()
    const { db } = gated.of({ ...test.database, close: async () => {} })
    gated.isAway = true
    expect(await makeAgentVersions({ db, clock }).warnings(acme, config)).toEqual([])
  })
})
