import { describe, expect, it } from 'vitest'
import { useDatabase } from './harness/database.ts'
import { AGENT, type Answer, type Simulation, useSimulations, wanted } from './harness/simulations.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const sim = useSimulations(test)

describe('simulations', () => {
  it('are listed, newest first, by what is asked', async () => {
    const version = await sim.served.publish('acme', sim.agentId, AGENT)
    await sim.clock.advance(1_001)
    const passed = await sim.completed(wanted({}, { agent_key: undefined, agent_version_id: version }))
    await sim.clock.advance(1_001)
    const failed = await sim.completed(wanted({ expect: { heard: ['no'] } }))
    const listed = async (query: string, tenant: string | null = 'acme') => {
      const answer = await sim.served.call<{ simulations: Simulation[]; next_cursor: string | null }>(
        tenant,
        'GET',
        `/simulations${query}`,
      )
      return { status: answer.status, ids: answer.body.simulations?.map(({ id }) => id), next: answer.body.next_cursor }
    }
    expect(await listed('')).toEqual({ status: 200, ids: [failed.id, passed.id], next: null })
    for (const query of ['?passed=true', `?agent_version_id=${version}&passed=true`, '?offset=1'])
      expect((await listed(query)).ids).toEqual([passed.id])
    const { next } = await listed('?limit=1')
    expect((await listed(`?limit=1&cursor=${next}`)).ids).toEqual([passed.id])
    for (const query of [
      '?agent_key=nobody',
      '?status=running',
      '?agent_version_id=x',
      '?started_after=2040-01-01T00:00:00Z',
    ])
      expect((await listed(query)).ids).toEqual([])
    expect((await listed('', 'other')).ids).toEqual([])
    expect((await listed('?status=over')).status).toBe(400)
    expect((await listed('', null)).status).toBe(401)
  })

  it("are another tenant's secret, and nobody's without a credential", async () => {
    const { id, runs } = await sim.completed(wanted())
    const paths = [`/simulations/${id}`, `/simulations/${id}/runs/${runs[0]?.id}`]
    for (const path of paths) {
      expect((await sim.served.call('other', 'GET', path)).status).toBe(404)
      expect((await sim.served.call(null, 'GET', path)).status).toBe(401)
    }
    expect((await sim.served.call('other', 'POST', `/simulations/${id}/cancel`)).status).toBe(404)
    expect((await sim.served.call(null, 'POST', `/simulations/${id}/cancel`)).status).toBe(401)
    for (const path of ['/simulations/x', `/simulations/${id}/runs/x`, `/simulations/${id}/runs/${UNKNOWN_ID}`])
      expect((await sim.served.call('acme', 'GET', path)).status).toBe(404)
  })

  it('can be cancelled while they run, and what was under way counts for nothing', async () => {
    sim.provider.answer('nothing')
    const { body } = await sim.simulate(wanted({}, { repetitions: 3 }))
    const { id } = body.simulation
    await until(() => sim.provider.asked.length === 2, { what: 'two of them to be under way' })
    const cancel = () => sim.served.call<Answer>('acme', 'POST', `/simulations/${id}/cancel`)
    expect((await cancel()).body.simulation).toMatchObject({
      ...{ status: 'cancelled', passed: null, runs_by_status: { cancelled: 3, pending: 0, running: 0 } },
    })
    expect(await cancel()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    sim.provider.answer({ says: 'Yes.' })
    await sim.clock.advance(60_000)
    expect(await sim.completed(wanted())).toMatchObject({ passed: true })
    expect(await sim.read(id)).toMatchObject({ status: 'cancelled', runs_by_status: { cancelled: 3 } })
  })

  it('are 20 at most that are not over, asked for at once too', async () => {
    sim.provider.answer('nothing')
    const made = await Promise.all(Array.from({ length: 25 }, () => sim.simulate(wanted())))
    const ids = made.flatMap(({ status, body }) => (status === 200 ? [body.simulation.id] : []))
    expect(ids).toHaveLength(20)
    expect(made.filter(({ body }) => body.code === 'conflict')).toHaveLength(5)
    for (const id of ids) await sim.served.call('acme', 'POST', `/simulations/${id}/cancel`)
    await sim.clock.advance(60_000)
  })

  it('run two at a time for a tenant, while those of another one go on', async () => {
    sim.provider.answer('nothing')
    await sim.simulate(wanted({}, { repetitions: 5 }))
    await until(() => sim.provider.asked.length === 2, { what: 'two of them to be under way' })
    await sim.simulate({ ...wanted(), agent_key: 'desk' }, 'other')
    await until(() => sim.provider.asked.length === 3, { what: "the other tenant's" })
    const open = await sim.served.call<{ simulations: Simulation[] }>('acme', 'GET', '/simulations')
    expect(open.body.simulations).toMatchObject([{ status: 'running', runs_by_status: { running: 2, pending: 3 } }])
    for (const tenant of ['acme', 'other']) {
      const { body } = await sim.served.call<{ simulations: Simulation[] }>(tenant, 'GET', '/simulations')
      for (const { id } of body.simulations) await sim.served.call(tenant, 'POST', `/simulations/${id}/cancel`)
    }
    await sim.clock.advance(60_000)
  })
})

describe('an agent that demands a simulation', () => {
  const versions = '/tenants/acme/agent-versions'
  const config = { ...AGENT, instructions: 'Be kind.' }
  const demand = (require_simulation: boolean) =>
    sim.served.administer('PATCH', `/tenants/acme/agents/${sim.agentId}`, { require_simulation })
  const draft = async () =>
    (await sim.served.administer<{ version: { id: string } }>('POST', versions, { agent_id: sim.agentId, config }))
      .version.id
  const publish = (id: string) => sim.served.administer('POST', `${versions}/${id}/publish`)
  const tryWith = (id: string, scenario: object = {}) =>
    sim.completed({ ...wanted(scenario), agent_key: undefined, agent_version_id: id })

  it('publishes a draft only when it has passed one, as it is now, and goes back without', async () => {
    const first = await sim.served.publish('acme', sim.agentId, AGENT)
    await demand(true)
    const id = await draft()
    await expect(publish(id)).rejects.toThrow(/409.*Version 3 has passed no simulation.*POST \/api\/v1\/simulations/)
    expect(await tryWith(id, { expect: { heard: ['no'] } })).toMatchObject({ passed: false })
    await expect(publish(id)).rejects.toThrow(/409/)
    expect(await tryWith(id)).toMatchObject({ passed: true })
    await sim.served.administer('PATCH', `${versions}/${id}`, { config: { ...config, instructions: 'Be rude.' } })
    await expect(publish(id)).rejects.toThrow(/409/)
    await sim.served.administer('PATCH', `${versions}/${id}`, { config })
    await publish(id)
    await publish(first)
    const another = await draft()
    await expect(publish(another)).rejects.toThrow(/409/)
    await demand(false)
    await publish(another)
  })
})
