import { describe, expect, it } from 'vitest'
import { assessmentOf } from '../src/records/evaluations/evaluations.fixture.ts'
import { Browser } from './harness/browser.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import { ServedApp } from './harness/served-app.ts'
import { AGENT, caller, one, useSimulations, wanted } from './harness/simulations.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const sim = useSimulations(test, { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD })

const runOf = async (scenario: object, more: object = {}) => sim.firstRun(await sim.completed(wanted(scenario, more)))

describe('POST /api/v1/simulations', () => {
  it('lets the agent speak with a caller, tells what was said, and whether it has passed', async () => {
    sim.provider.answer({ says: 'Until six.' }, { calls: [{ name: 'end_call', arguments: '{}' }], says: 'Goodbye.' })
    const steps = [{ say: 'Are you open?' }, { press: '42' }, { say: 'Never heard.' }]
    const expected = {
      heard: ['hello', 'until six', 'Goodbye'],
      not_heard: ['closed'],
      ended_by: 'agent',
      turns: { max: 3 },
    }
    const simulation = await sim.completed(wanted({ caller: { steps }, expect: expected }))
    expect(simulation).toMatchObject({
      ...{ status: 'completed', passed: true, pass_rate: 1, runs: [{ status: 'passed', reasons: [], score: null }] },
      runs_by_status: { total: 1, passed: 1, failed: 0, error: 0 },
    })
    const run = await sim.firstRun(simulation)
    expect(run.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      ...['agent: Hello.', 'caller: Are you open?', 'agent: Until six.'],
      ...['system: The caller pressed these keys: 42', 'agent: Goodbye.'],
    ])
    expect(run.function_calls).toMatchObject([{ name: 'end_call', status: 'ok', answered_by: 'built_in' }])
    expect(sim.provider.asked[0]).toMatchObject({ model: 'small' })
    expect(sim.provider.asked[0]?.messages[0]?.content).toContain('Be brief.')
  })

  it('says in sentences what was not as it was expected', async () => {
    sim.provider.answer({ says: 'We are closed.' })
    const expected = {
      ...{ heard: ['until six'], not_heard: ['closed'], matches: ['^open\\b'], not_matches: ['CLOSED', '(a+)+$'] },
      ...{ tools: [{ name: 'end_call', arguments: { reason: 'done' } }], outcome: { outcome: 'sold', tags: ['sale'] } },
      ...{ ended_by: 'agent', turns: { min: 5 }, reply_ms: { min: 1 } },
    }
    const simulation = await sim.completed(wanted({ expect: expected }))
    expect(simulation).toMatchObject({ passed: false, pass_rate: 0, runs: [{ status: 'failed' }] })
    expect(simulation.runs[0]?.reasons).toEqual([
      '"until six" was not heard.',
      '"closed" was heard.',
      'end_call was not called with {"reason":"done"} where it should be; called was nothing.',
      'The tag sale was not recorded.',
      'The outcome "sold" was not recorded: none was.',
      'The call was ended by caller, and not by agent.',
      'There were 2 turns of the agent: expected were at least 5.',
      'There were 0 milliseconds for the slowest answer: expected were at least 1.',
      'No turn of the agent matches ^open\\b.',
      'A turn of the agent matches CLOSED.',
    ])
  })

  it('does nothing of what the agent calls: no task, no number that is listed, nobody who is put through', async () => {
    const callback = { name: 'schedule_callback', arguments: '{"summary":"Wants chairs."}' }
    const dnc = { name: 'add_to_dnc', arguments: '{}' }
    const outcome = { name: 'record_outcome', arguments: '{"tags":["sale"],"outcome":"Sold a chair"}' }
    const bent = { name: 'schedule_callback', arguments: '{}' }
    const through = { name: 'transfer_call', arguments: '{"target":"+12025550199"}' }
    sim.provider.answer({ calls: [callback, dnc, outcome, bent, through] }, { says: 'Done.' })
    const expected = {
      tools: [{ name: 'add_to_dnc' }],
      outcome: { outcome: 'sold', tags: ['sale'] },
      ended_by: 'caller',
    }
    const run = await runOf({ expect: expected })
    expect([run.status, run.reasons]).toEqual(['passed', []])
    expect(run.function_calls).toMatchObject([
      { status: 'ok', answered_by: 'built_in', result: expect.stringContaining('task_id') },
      ...[{ status: 'ok' }, { status: 'ok', result: '{"ok":true,"tags":["sale"]}' }],
      { status: 'error', result: expect.stringContaining('summary') },
      { status: 'error', result: expect.stringContaining('transfer_targets') },
    ])
    for (const path of ['/callback-tasks', '/call-logs', '/voice-sessions', '/dnc'])
      expect((await sim.served.call('acme', 'GET', path)).body).toMatchObject({ count: 0 })
  })

  it('ends with a transfer that would be done', async () => {
    await sim.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', transfer_targets: ['+1202'] })
    await sim.clock.advance(1_001)
    sim.provider.answer({
      says: 'One moment.',
      calls: [{ name: 'transfer_call', arguments: '{"target":"+12025550199"}' }],
    })
    const failing = { tool_results: [{ name: 'transfer_call', error: 'nobody answered' }] }
    expect(await runOf({ expect: { ended_by: 'transfer' } })).toMatchObject({ status: 'passed' })
    expect(await runOf({ ...failing, expect: { ended_by: 'caller' } })).toMatchObject({
      status: 'passed',
      function_calls: expect.arrayContaining([expect.objectContaining({ answered_by: 'scenario', status: 'error' })]),
    })
  })

  it("asks the tenant's own tools only when it is told to, and lets the scenario answer for them", async () => {
    const call = { calls: [{ name: 'price_of', arguments: '{"item":"a chair"}' }] }
    const script = () => sim.provider.answer(call, { says: 'It is this.' })
    const answers = async (scenario: object, more: object = {}) => {
      script()
      return (await runOf(scenario, more)).function_calls
    }
    const results = [
      { name: 'price_of', arguments: { item: 'a table' }, output: { price: 90 } },
      { name: 'price_of', output: { price: 7 } },
    ]
    expect(await answers({ tool_results: results }, { run_tools: true })).toMatchObject([
      { answered_by: 'scenario', result: '{"price":7}' },
    ])
    expect(await answers({})).toMatchObject([
      { answered_by: 'nobody', result: expect.stringContaining('nothing was done') },
    ])
    expect(sim.target.received).toHaveLength(0)
    expect(await answers({}, { run_tools: true })).toMatchObject([
      { answered_by: 'tool', result: expect.stringContaining('"price":12') },
    ])
    expect(sim.target.received).toHaveLength(1)
  })

  it('has the agent ask a silent caller, and hang up at last', async () => {
    await sim.served.publish('acme', sim.agentId, {
      ...AGENT,
      idle: { prompts: ['Are you there?'], goodbye: 'Goodbye then.' },
    })
    await sim.clock.advance(1_001)
    sim.provider.answer({ says: 'Hello?' })
    const run = await runOf({ caller: { steps: [{ silence: true }], stays: true }, expect: { ended_by: 'agent' } })
    expect(run.transcript.map(({ text }) => text)).toEqual(['Hello.', 'Are you there?', 'Hello?', 'Goodbye then.'])
    expect(sim.provider.asked[0]?.messages.at(-1)?.content).toMatch(/^The caller has been silent/)
  })

  it('has a model play the caller, who hears the agent and hangs up', async () => {
    const hangsUp = { says: 'Thanks, bye.', calls: [{ name: 'hang_up', arguments: '{}' }] }
    sim.provider.answer({ says: 'A chair, please.' }, { says: 'With pleasure.' }, hangsUp, { says: 'Goodbye.' })
    const persona = { persona: 'Ada, in a hurry.', goal: 'To buy a chair.' }
    const run = await runOf({ caller: persona }, { caller_model: 'large' })
    expect(run).toMatchObject({ status: 'passed', ended_by: 'caller' })
    expect(run.transcript.map(({ role }) => role)).toEqual(['agent', 'caller', 'agent', 'caller', 'agent'])
    expect(sim.provider.asked.map(({ model }) => model)).toEqual(['large', 'small', 'large', 'small'])
    expect(sim.provider.asked[2]?.messages[0]?.content).toContain('To buy a chair.')
    expect(sim.provider.asked[2]?.messages.slice(1)).toEqual([
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'A chair, please.' },
      { role: 'user', content: 'With pleasure.' },
    ])
    sim.provider.answer({ says: 'And?' })
    expect(await runOf({ caller: { ...persona, max_turns: 2 } })).toMatchObject({ ended_by: 'limit' })
  })

  it('hands the caller to another agent, who goes on by their own instructions', async () => {
    const body = { agent_key: 'sales', name: 'Sales', description: '' }
    const { agent } = await sim.served.administer<{ agent: { id: string } }>('POST', '/tenants/acme/agents', body)
    await sim.served.publish('acme', agent.id, { instructions: 'Sell.', chat_model: 'large' })
    await sim.served.publish('acme', sim.agentId, { ...AGENT, tools: ['hand_off'] })
    await sim.clock.advance(1_001)
    sim.provider.answer({ calls: [{ name: 'hand_off', arguments: '{"agent_key":"sales"}' }] }, { says: 'Sales here.' })
    expect(await runOf({})).toMatchObject({ status: 'passed' })
    expect(sim.provider.asked.map(({ model }) => model)).toEqual(['small', 'large'])
    expect(sim.provider.asked[1]?.messages[0]?.content).toContain('Sell.')
  })

  it.each([
    ['has failed', { name: 'price_of', arguments: '{}' }],
    ['has given the call to another agent', { name: 'hand_off', arguments: '{"agent_key":"sales"}' }],
  ])('does not end with the answer of which a tool %s, as a call does not', async (_what, call) => {
    const body = { agent_key: 'sales', name: 'Sales', description: '' }
    const { agent } = await sim.served.administer<{ agent: { id: string } }>('POST', '/tenants/acme/agents', body)
    await sim.served.publish('acme', agent.id, { chat_model: 'small' })
    await sim.served.publish('acme', sim.agentId, { ...AGENT, tools: ['end_call', 'hand_off', 'price_of'] })
    await sim.clock.advance(1_001)
    const ends = { name: 'end_call', arguments: '{}' }
    sim.provider.answer({ says: 'One moment.', calls: [call, ends] }, { says: 'How can I help?' })
    const tool_results = [{ name: 'price_of', error: 'There is no price.' }]
    expect(await runOf({ tool_results, expect: { heard: ['how can I help'] } })).toMatchObject({
      ...{ status: 'passed', ended_by: 'caller' },
      function_calls: [{ name: call.name }, { name: 'end_call' }],
    })
    expect(sim.provider.asked[1]?.messages.at(-1)?.content).toContain('so the call goes on')
  })

  it('has the goodbye that an agent is asked for who hangs up without a word, as in a call', async () => {
    sim.provider.answer({ calls: [{ name: 'end_call', arguments: '{}' }] }, { says: 'Goodbye.' })
    const run = await runOf({ expect: { heard: ['goodbye'], ended_by: 'agent' } })
    expect(run).toMatchObject({ status: 'passed', reasons: [] })
    expect(sim.provider.asked).toHaveLength(2)
    expect(sim.provider.asked[1]?.messages.at(-1)?.content).toBe('Say goodbye in one short sentence.')
  })

  it('scores each run by the criteria of the version, and asks for a score where it is told to', async () => {
    await sim.served.publish('acme', sim.agentId, { ...AGENT, criteria: [{ name: 'tone' }] })
    await sim.clock.advance(1_001)
    const verdict = (score: number) =>
      JSON.stringify({ criteria: [{ name: 'tone', score, reason: 'So.' }], summary: 'They asked.' })
    sim.provider.answer({ says: 'Yes.' }, { says: verdict(0.9) })
    expect(await runOf({}, { min_score: 0.8 })).toMatchObject({
      ...{ status: 'passed', score: 0.9, summary: 'They asked.' },
      criteria: [{ name: 'tone', score: 0.9, reason: 'So.' }],
    })
    sim.provider.answer({ says: 'Yes.' }, { says: verdict(0.4) })
    expect(await runOf({}, { min_score: 0.8 })).toMatchObject({
      ...{ status: 'failed', score: 0.4, reasons: ['The score is 0.4: at least 0.8 was expected.'] },
    })
    sim.provider.answer({ says: 'Yes.' }, { says: assessmentOf(0.9) })
    expect((await runOf({}, { min_score: 0.8 })).reasons).toEqual([expect.stringMatching(/^It was not scored: /)])
    sim.provider.answer({ says: 'Yes.' })
    sim.provider.asked.length = 0
    expect(await runOf({}, { score: false })).toMatchObject({ status: 'passed', score: null })
    expect(sim.provider.asked).toHaveLength(1)
  })

  it('runs each scenario as often as it is told to, and passes by the share of those that pass', async () => {
    const scenarios = [one({ expect: { heard: ['yes'] } }), one({ name: 'Another', expect: { heard: ['no'] } })]
    const body = { agent_key: 'desk', name: 'Nightly', scenarios, repetitions: 3 }
    const asked = one({
      call: { metadata: { a: { b: [1] } } },
      tool_results: [{ name: 'x', output: { c: [null, 2] } }],
    })
    expect((await sim.completed({ ...body, scenarios: [asked] })).scenarios).toEqual([asked])
    const half = await sim.completed({ ...body, pass_threshold: 0.5 })
    expect(half).toMatchObject({
      name: 'Nightly',
      passed: true,
      pass_rate: 0.5,
      runs_by_status: { passed: 3, failed: 3 },
    })
    expect(half.runs.map(({ scenario, status }) => `${scenario} ${status}`).slice(0, 3)).toEqual([
      ...['Opening hours passed', 'Another failed', 'Opening hours passed'],
    ])
    expect(await sim.completed({ ...body, pass_threshold: 0.6 })).toMatchObject({ passed: false, pass_rate: 0.5 })
  })

  it('tells what it cost, where prices and tokens are known, and keeps within budgets', async () => {
    const usage = {
      prompt_tokens: 1_000_000,
      completion_tokens: 1_000_000,
      prompt_tokens_details: { cached_tokens: 500_000 },
    }
    const body = JSON.stringify({ choices: [{ message: { content: 'Yes.' } }], usage })
    sim.provider.answer({ status: 200, body })
    await sim.served.publish('acme', sim.agentId, { ...AGENT, chat_model: 'gpt-4o-mini-2024-07-18' })
    await sim.clock.advance(1_001)
    const simulation = await sim.completed(wanted())
    expect(simulation).toMatchObject({ cost_usd: 0.7125, runs: [{ cost_usd: 0.7125 }] })
    expect(simulation.runs[0]?.usage).toEqual({
      input_tokens: 1_000_000,
      cached_tokens: 500_000,
      output_tokens: 1_000_000,
    })

    const limits = (of: object) => sim.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: of })
    await limits({ budget_per_call: 1 })
    await sim.clock.advance(1_001)
    const steps = Array.from({ length: 5 }, () => ({ say: 'Are you open?' }))
    expect(await runOf({ caller: { steps } })).toMatchObject({
      ...{ status: 'failed', ended_by: 'limit', cost_usd: 1.425 },
      reasons: ["It cost as much as a call may: the tenant's budget_per_call."],
    })
    await limits({ budget_per_day: 2 })
    await sim.clock.advance(1_001)
    expect(await sim.simulate(wanted())).toMatchObject({ status: 409, body: { code: 'budget_exhausted' } })
  })

  it('is not passed when the model refuses, or does not answer again and again', async () => {
    sim.provider.answer({ status: 400, body: '{"error":{"message":"no such model"}}' })
    expect(await sim.completed(wanted())).toMatchObject({
      ...{ passed: false, runs_by_status: { error: 1 } },
      runs: [{ status: 'error', reasons: [expect.stringMatching(/refused to answer/)] }],
    })
    sim.provider.asked.length = 0
    sim.provider.answer({ status: 500, body: 'oh' })
    const made = await sim.simulate(wanted())
    // Time passes only while it waits: else what is being asked would be late.
    let isBusy = true
    const over = async () => {
      const simulation = await sim.read(made.body.simulation.id)
      isBusy = simulation.runs_by_status['running'] !== 0
      return simulation.status === 'completed' ? simulation : null
    }
    const ended = { what: 'its end', stepMs: 15_000, isBusy: () => isBusy, timeoutMs: 60_000 }
    expect(await passing(sim.clock, over, ended)).toMatchObject({
      ...{ passed: false, runs: [{ reasons: [expect.stringMatching(/did not answer/)] }] },
    })
    expect(sim.provider.asked).toHaveLength(5)
  })

  it('ends a call within a turn, when 200 tools were called', async () => {
    sim.provider.answer({ calls: Array.from({ length: 32 }, () => ({ name: 'price_of', arguments: '{"item":"a"}' })) })
    const run = await runOf({ caller: { steps: [{ say: 'One.' }, { say: 'Two.' }] } })
    expect([run.ended_by, run.function_calls.length]).toEqual(['limit', 200])
  })

  it('asks an agent that has no greeting to greet the caller', async () => {
    await sim.served.publish('acme', sim.agentId, { ...AGENT, greeting: '' })
    await sim.clock.advance(1_001)
    await runOf({})
    expect(sim.provider.asked[0]?.messages.at(-1)).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^Greet the caller/),
    })
  })

  it.each([
    [{ agent_key: 'nobody' }, '/body/agent_key'],
    [{ agent_key: undefined }, '/body/agent_key'],
    [{ agent_version_id: UNKNOWN_ID }, '/body/agent_version_id'],
    [{ mode: 'song' }, '/body/mode'],
    [{ scenarios: [] }, '/body/scenarios'],
    [{ scenarios: [one(), one()] }, '/body/scenarios/1/name'],
    [{ scenarios: [one({ caller: {} })] }, '/body/scenarios/0/caller'],
    [{ scenarios: [one({ caller: { ...caller, persona: 'x' } })] }, '/body/scenarios/0/caller/persona'],
    [{ scenarios: [one({ caller: { persona: 'x', stays: true } })] }, '/body/scenarios/0/caller/stays'],
    [{ scenarios: [one({ caller: { ...caller, goal: 'x' } })] }, '/body/scenarios/0/caller/goal'],
    [{ scenarios: [one({ caller: { steps: [{}] } })] }, '/body/scenarios/0/caller/steps/0'],
    [{ scenarios: [one({ caller: { steps: [{ say: 'x', press: '1' }] } })] }, '/body/scenarios/0/caller/steps/0'],
    [
      { scenarios: [one({ caller: { steps: [{ over_agent_ms: 5 }] } })] },
      '/body/scenarios/0/caller/steps/0/over_agent_ms',
    ],
    [{ scenarios: [one({ tool_results: [{ name: 'x' }] })] }, '/body/scenarios/0/tool_results/0'],
    [{ scenarios: [one({ expect: { matches: ['('] } })] }, '/body/scenarios/0/expect/matches/0'],
    [{ scenarios: [one({ expect: { heard: ['?!'] } })] }, '/body/scenarios/0/expect/heard/0'],
    [{ scenarios: [one({ expect: { turns: {} } })] }, '/body/scenarios/0/expect/turns'],
    [{ scenarios: [one({ expect: { reply_ms: { min: 2, max: 1 } } })] }, '/body/scenarios/0/expect/reply_ms'],
    [{ scenarios: Array.from({ length: 6 }, (_, i) => one({ name: `${i}` })), repetitions: 20 }, '/body/repetitions'],
    [{ min_score: 0.5 }, '/body/min_score'],
    [{ min_score: 0.5, score: false }, '/body/min_score'],
    [{ pass_threshold: 2 }, '/body/pass_threshold'],
    [{ pass_threshold: 0 }, '/body/pass_threshold'],
    [{ voice: true }, '/body/voice'],
  ])('refuses %.80j with 400, and names what is wrong', async (more, path) => {
    const { status, body } = await sim.simulate({ ...wanted(), ...more })
    expect([status, body.details.map((fault) => fault.path)]).toEqual([400, expect.arrayContaining([path])])
  })

  it('asks for a credential, and is for those who make agents', async () => {
    expect((await sim.simulate(wanted(), null)).status).toBe(401)
    const browser = new Browser(sim.served)
    const person = { email: 'op@acme.example', role: 'operator', password: PASSWORD }
    await sim.served.administer('POST', '/tenants/acme/users', person)
    await browser.login(person.email, PASSWORD)
    expect((await browser.call('POST', '/simulations', { body: wanted() })).status).toBe(403)
  })

  it('needs a chat model', async () => {
    const mute = await ServedApp.start(test, { clock: sim.clock, besides: sim.served })
    expect(await mute.call('acme', 'POST', '/simulations', wanted())).toMatchObject({ status: 503 })
    await mute.app.close()
  })
})
