import { describe, expect, it } from 'vitest'
import { ACCOUNT, eventually, type Pair, startPair } from '../carrier/carrier.fixture.ts'
import { answerCarrierControl } from './carrier-control.ts'

const AUTHORIZATION = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`

async function startControlled() {
  const pair = await startPair({ control: answerCarrierControl })
  pair.bridge.answer('/voice', '<Response><Pause length="60"/></Response>')
  const ask = async (
    path: string,
    body?: unknown,
    headers: Record<string, string> = { authorization: AUTHORIZATION },
  ) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: text }
    const response = await fetch(`${pair.carrier.baseUrl}${path}`, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...pair, ask }
}

function voiceUrl({ bridge }: Pick<Pair, 'bridge'>): string {
  return `${bridge.url}/voice`
}

describe("the carrier's control surface", () => {
  it('rings a number, tells how the call goes, lets the caller say more, and hangs up', async () => {
    const pair = await startControlled()
    const { ask, carrier, bridge } = pair
    const caller = { steps: [{ say: 'Hello.', at_ms: 100 }], stays: true }
    const rung = await ask('/control/ring', {
      ...{ to: '+12025550100', from: '+12025550123', caller, max_seconds: 600 },
      ...{ voice_url: voiceUrl(pair), status_callback: `${bridge.url}/status` },
    })
    expect(rung).toMatchObject({ status: 201, body: { from: '+12025550123', to: '+12025550100', status: 'ringing' } })

    const path = `/control/calls/${rung.body['sid']}`
    await eventually(() => carrier.calls[0]?.events.some(({ kind }) => kind === 'caller-ended') === true)
    expect(await ask(`${path}/say`, { say: 'And goodbye.' })).toEqual({ status: 200, body: { ok: true } })
    const said = () => carrier.calls[0]?.events.flatMap((event) => (event.kind === 'caller-began' ? [event.text] : []))
    await eventually(() => said()?.length === 2)
    expect(said()).toEqual(['Hello.', 'And goodbye.'])

    expect(await ask(path)).toMatchObject({ status: 200, body: { status: 'in-progress' } })
    expect(await ask(`${path}/hang-up`, {})).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect(await ask(`${path}/say`, { say: 'Too late.' })).toMatchObject({ status: 409 })
    await carrier.calls[0]?.settled
  })

  it('takes a hundred sentences that wait to be said, and no more', async () => {
    const pair = await startControlled()
    const { body } = await pair.ask('/control/ring', { to: '+12025550100', voice_url: voiceUrl(pair) })
    const [call] = pair.carrier.calls
    await eventually(() => call?.status === 'in-progress')
    const say = (words: string) => pair.ask(`/control/calls/${body['sid']}/say`, { say: words })
    // While that is said the others wait, however long a busy machine takes to ask for them: some two minutes.
    expect((await say('One two three. '.repeat(100))).status).toBe(200)
    await eventually(() => call?.events.some(({ kind }) => kind === 'caller-began') === true)
    const endless = Array.from({ length: 101 }, () => say('One two three.'))
    const statuses = (await Promise.all(endless)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([...Array(100).fill(200), 409])
  })

  it('is closed to whoever has not the credentials of the account', async () => {
    const pair = await startControlled()
    const body = { to: '+12025550100', voice_url: voiceUrl(pair) }
    const wrong = { authorization: `Basic ${Buffer.from(`${ACCOUNT.accountSid}:wrong`).toString('base64')}` }
    expect((await pair.ask('/control/ring', body, {})).status).toBe(401)
    expect((await pair.ask('/control/ring', body, wrong)).status).toBe(401)
    expect(pair.carrier.calls).toEqual([])
  })

  it.each([
    ['not JSON', 'to=1', 'JSON'],
    ['no number', { voice_url: 'http://127.0.0.1/' }, "'to'"],
    ['no address', { to: '+12025550100' }, "'voice_url'"],
    ['an address that is none', { to: '+12025550100', voice_url: 'file:///etc/passwd' }, "'voice_url'"],
    ['an unknown field', { to: '+12025550100', voice_url: 'http://127.0.0.1/', text: 'x' }, "'text'"],
    [
      'a step that does nothing',
      { to: '+12025550100', voice_url: 'http://127.0.0.1/', caller: { steps: [{}] } },
      'caller.steps[0]',
    ],
  ])('refuses %s, and names it', async (_what, body, name) => {
    const { ask, carrier } = await startControlled()
    const { status, body: answer } = await ask('/control/ring', body)
    expect([status, answer['error']]).toEqual([400, expect.stringContaining(name)])
    expect(carrier.calls).toEqual([])
  })

  it('answers 404 for what is not there, and 405 with the method to use', async () => {
    const pair = await startControlled()
    expect((await pair.ask('/control/calls/CA0')).status).toBe(404)
    expect((await pair.ask('/control/nothing')).status).toBe(404)
    expect(await pair.ask('/control/ring')).toEqual({ status: 405, body: { error: 'Use POST.' } })
    const { body } = await pair.ask('/control/ring', { to: '+12025550100', voice_url: voiceUrl(pair) })
    expect((await pair.ask(`/control/calls/${body['sid']}`, {})).status).toBe(405)
    expect((await pair.ask(`/control/calls/${body['sid']}/hang-up`)).status).toBe(405)
  })

  it('is not there for a carrier that was given none', async () => {
    const pair = await startPair()
    const headers = { authorization: AUTHORIZATION }
    expect((await fetch(`${pair.carrier.baseUrl}/control/ring`, { headers, method: 'POST' })).status).toBe(404)
  })
})
