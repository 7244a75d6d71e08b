import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { CALLER, NUMBER, streamTokenIn, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { passing } from '../../test/harness/passing.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import { SILENT_FRAME, StreamClient } from '../../test/harness/stream-client.ts'
import { until } from '../../test/harness/wait.ts'
import { OTHER_NODE, tenantTold } from '../records/calls.fixture.ts'
import { makePutThrough } from './put-through.ts'

const TARGET = '+12025550103'
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }

const test = useDatabase()
const app = useCallApp(test, {
  agent: { agent_name: 'Robin', greeting: 'Hello.', tools: ['transfer_call'] },
  document: { transfer_targets: [TARGET, '+44', '+49030123456'] },
})

type Session = { end_reason: string | null; transcript: { role: string; text: string }[] }

/** A call whose agent has greeted. */
async function greeted(): Promise<StreamClient> {
  const caller = await app.talk({ CallSid: 'CA1' })
  const { last } = app.model
  last.tell({ type: 'response_started', responseId: 'r0' })
  last.speak('r0', 'i0', SILENT_FRAME)
  done('r0')
  await until(() => caller.messages.some(({ event }) => event === 'media'), { what: 'the greeting' })
  await app.clock.advance(100)
  caller.send({ event: 'mark', streamSid: 'MZCA1', mark: { name: 'm1' } })
  return caller
}

function done(responseId: string): void {
  const facts = { status: 'completed', errorCode: null, fault: null, usage: NO_USAGE } as const
  app.model.last.tell({ type: 'response_done', responseId, ...facts })
}

const transfer = (target: unknown = TARGET) =>
  app.served.call<{ code?: string }>('acme', 'POST', '/sessions/MZCA1/actions', { action: 'transfer', target })
const isLive = async () => (await app.served.call('acme', 'GET', '/sessions/MZCA1')).status === 200
const asked = () => app.model.last.commands.flatMap((c) => (c.type === 'respond' ? [c.instructions ?? ''] : []))

/** The agent calls the tool. */
function calls(args: object, callId = 'c1'): void {
  const { last } = app.model
  last.tell({ type: 'response_started', responseId: `r-${callId}` })
  const call = { itemId: `i-${callId}`, callId, name: 'transfer_call', argumentsText: JSON.stringify(args) }
  last.tell({ type: 'tool_call', responseId: `r-${callId}`, ...call })
  done(`r-${callId}`)
}

const result = (callId = 'c1') =>
  app.model.last.commands.find((command) => command.type === 'tool_result' && command.callId === callId)

/** What the carrier was told to do with the call, and the documents among that. Whether it goes on it may be asked meanwhile. */
const changes = () =>
  app.rest.requests
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/Calls/CA1.json'))
    .map(({ form }) => form)
const documents = () => changes().map((form) => form['Twiml'] ?? '')
/** Calls that it was asked to place. */
const placed = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls.json'))

/** The path of an address of ours in a document, or of a request's field. */
function pathOf(address = ''): string {
  const { pathname } = new URL(address.replaceAll('&amp;', '&'))
  return pathname
}

function addressIn(document: string | undefined, name: string): string {
  const [, address] = new RegExp(`${name}="([^"]+)"`).exec(document ?? '') ?? []
  return pathOf(address)
}

const ask = (path: string, form: Record<string, string> = {}, token: string | null = ACCOUNT.token) =>
  app.post(path, { form: { CallSid: 'CA-target', AccountSid: ACCOUNT.sid, ...form }, token })
const resume = (form: Record<string, string>) =>
  app.post('/api/v1/call-resume', {
    form: { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, ...form },
  })

async function session(): Promise<Session> {
  const { body } = await app.served.call<{ voice_sessions: { id: string }[] }>('acme', 'GET', '/voice-sessions')
  const path = `/voice-sessions/${body.voice_sessions[0]?.id}`
  return (await app.served.call<{ voice_session: Session }>('acme', 'GET', path)).body.voice_session
}

/** The carrier has left our stream. */
async function leaves(caller: StreamClient): Promise<void> {
  caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
  await until(() => caller.closeCode !== null, { what: 'the end of the stream' })
}

describe('the action transfer', () => {
  it('has the carrier ring the target in place of our stream, and the call is theirs when they answer', async () => {
    const caller = await greeted()
    expect(await transfer()).toMatchObject({ status: 200, body: { action: { action: 'transfer', target: TARGET } } })
    const [document] = documents()
    expect(document).toContain(`>${TARGET}</Number></Dial>`)
    expect(document).not.toContain('callerId')
    // However long the agent may have it.
    expect(changes()).toMatchObject([{ TimeLimit: '14400' }])
    expect(addressIn(document, 'action')).toBe('/api/v1/call-resume')
    await leaves(caller)
    expect(await isLive()).toBe(true)
    const told = ask(addressIn(document, 'statusCallback'), { CallStatus: 'in-progress' })
    await app.pass(async () => !(await isLive()), 'the end of our part')
    expect((await told).status).toBe(200)
    expect(await session()).toMatchObject({ end_reason: 'transferred' })
    // The carrier asks when they have hung up.
    expect((await resume({ DialCallStatus: 'completed' })).text).toContain('<Hangup/>')
    expect(app.rest.requests.filter(({ form }) => form['Status'] === 'completed')).toEqual([])
  })

  it('brings the agent back when nobody takes it', async () => {
    const caller = await greeted()
    await transfer()
    await leaves(caller)
    const { text } = await resume({ DialCallStatus: 'busy' })
    const again = await StreamClient.open(app.served.address)
    again.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(text) } })
    await until(() => asked().some((instructions) => instructions.includes('the line is busy')), { what: 'the agent' })
    expect((await session()).end_reason).toBeNull()
    // Somebody else may take it.
    expect(
      (await app.served.call('acme', 'POST', '/sessions/MZ2/actions', { action: 'transfer', target: TARGET })).status,
    ).toBe(200)
    expect(documents()).toHaveLength(2)
  })

  it.each([
    ['no-answer', 'caller_hangup'],
    ['completed', 'transferred'],
  ])('is over where the carrier says so with what came of the target, which is %s', async (DialCallStatus, reason) => {
    const caller = await greeted()
    await transfer()
    await leaves(caller)
    const { text } = await resume({ DialCallStatus, CallStatus: 'completed', CallDuration: '42' })
    expect(text).toContain('<Hangup/>')
    await app.pass(async () => (await session()).end_reason, 'the end to be written')
    expect((await session()).end_reason).toBe(reason)
    const { body } = await app.served.call<{ call_logs: object[] }>('acme', 'GET', '/call-logs')
    expect(body.call_logs).toMatchObject([{ status: 'completed', duration_seconds: 42, error_code: null }])
  })

  it('is with the target when only the end of it is told', async () => {
    const caller = await greeted()
    await transfer()
    await leaves(caller)
    expect((await resume({ DialCallStatus: 'completed' })).text).toContain('<Hangup/>')
    expect((await session()).end_reason).toBe('transferred')
    await until(async () => !(await isLive()), { what: 'the end of our part' })
  })

  it('is with the target where the carrier rang them and did not say so: nobody hangs up on the two', async () => {
    const caller = await greeted()
    app.rest.reply = async ({ form }) => {
      if (!form['Twiml']?.includes('<Dial')) return { status: 200, body: {} }
      await leaves(caller)
      return { status: 504, body: {} }
    }
    expect((await transfer()).status).toBe(502)
    const told = ask(addressIn(documents()[0], 'statusCallback'), { CallStatus: 'in-progress' })
    await app.pass(async () => !(await isLive()), 'the end of our part')
    expect((await told).status).toBe(200)
    await app.clock.advance(60_000)
    expect((await session()).end_reason).toBe('transferred')
    expect(app.rest.requests.filter(({ form }) => form['Status'] === 'completed')).toEqual([])
  })

  it('brings the agent back whom nobody relieves, also where the carrier did not say that it rang them', async () => {
    const caller = await greeted()
    app.rest.reply = async () => {
      await leaves(caller)
      return { status: 504, body: {} }
    }
    await transfer()
    const { text } = await resume({ DialCallStatus: 'busy' })
    const again = await StreamClient.open(app.served.address)
    again.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(text) } })
    await until(() => asked().some((instructions) => instructions.includes('the line is busy')), { what: 'the agent' })
    expect((await session()).end_reason).toBeNull()
  })

  it('rings the target in the name of the number that was called where the caller withholds theirs', async () => {
    await app.talk({ CallSid: 'CA1', From: 'anonymous' })
    app.model.last.tell({ type: 'response_started', responseId: 'r0' })
    expect((await transfer()).status).toBe(200)
    expect(documents()).toEqual([expect.stringContaining(` callerId="${NUMBER}"`)])
  })

  it('goes to nobody whom the tenant does not name', async () => {
    await greeted()
    for (const target of ['+12025550199', 'the boss', '+449098790000', '']) {
      expect(await transfer(target)).toMatchObject({ status: 400, body: { details: [{ path: '/body/target' }] } })
    }
    expect(documents()).toEqual([])
    expect((await transfer('+442071838750')).status).toBe(200)
    expect((await transfer()).status).toBe(409)
  })

  it('goes to a number that the tenant names with the 0 of its country, as it is dialled', async () => {
    await greeted()
    expect((await transfer('+49030123456')).status).toBe(400)
    expect((await transfer('+4930123456')).status).toBe(200)
    expect(documents()).toEqual([expect.stringContaining('+4930123456')])
  })

  it('is a 502 when the carrier does not do it, and the agent goes on', async () => {
    await greeted()
    app.rest.reply = () => ({ status: 500, body: {} })
    expect(await transfer()).toMatchObject({ status: 502, body: { code: 'upstream_failed' } })
    expect(asked().at(-1)).toContain('could not be put through')
    expect(await isLive()).toBe(true)
  })
})

describe('the tool transfer_call', () => {
  it('is refused where the action would be, in words for the model', async () => {
    await greeted()
    calls({ target: '+12025550199' })
    await until(() => result(), { what: 'the result' })
    expect(result()).toMatchObject({ output: expect.stringContaining('transfer_targets') })
    app.rest.reply = () => ({ status: 500, body: {} })
    calls({ target: TARGET }, 'c2')
    await until(() => result('c2'), { what: 'the result' })
    expect(result('c2')).toMatchObject({ output: expect.stringContaining('did not put the call through') })
    expect(asked().at(-1)).toBe('')
  })

  describe('warm', () => {
    /** What a carrier says of a conference that it has left. */
    const ROOM_OVER = { DialCallStatus: 'answered' }

    /** The target is being rung; answers its addresses. */
    async function ringing(): Promise<{ caller: StreamClient; url: string; status: string }> {
      app.rest.reply = ({ path }) =>
        path.endsWith('/Calls.json') ? { status: 201, body: { sid: 'CA-target' } } : { status: 200, body: {} }
      const caller = await greeted()
      calls({ target: TARGET, summary: 'A refund of <5 pounds.', warm: true })
      await until(() => result(), { what: 'the result' })
      const form: Record<string, string> = placed()[0]?.form ?? {}
      expect(form).toMatchObject({ To: TARGET, From: NUMBER, Timeout: '30' })
      // Carriers are paid for it, and nobody here would look at it.
      expect(form).not.toHaveProperty('MachineDetection')
      return { caller, url: pathOf(form['Url']), status: pathOf(form['StatusCallback']) }
    }

    /** The carrier has left our stream, and asks what comes next: the agent goes on. */
    async function isBack(caller: StreamClient, told: Record<string, string> = {}): Promise<void> {
      await leaves(caller)
      const { text } = await resume(told)
      const again = await StreamClient.open(app.served.address)
      again.start({ callSid: 'CA1', streamSid: 'MZ2', parameters: { stream_token: streamTokenIn(text) } })
      await until(() => asked().some((said) => said.includes('could not be put through')), { what: 'the agent' })
      expect((await session()).end_reason).toBeNull()
    }

    it('has the caller wait with music, tells the target, and joins the two', async () => {
      const { caller, url } = await ringing()
      await until(() => caller.messages.some(({ event }) => event === 'media'), { what: 'the music' })
      const offer = await ask(url)
      expect(offer.text).toContain('A refund of &lt;5 pounds. Press 1 to take the call.')
      const joining = ask(addressIn(offer.text, 'action'), { Digits: '1' })
      await app.pass(async () => !(await isLive()), 'the end of our part')
      const joined = await joining
      const [, room] = /<Conference[^>]*>([^<]+)</.exec(joined.text) ?? []
      expect(room).toMatch(/^transfer-/)
      expect(documents()[0]).toContain(`>${room}</Conference></Dial>`)
      expect(changes()).toMatchObject([{ TimeLimit: '14400' }])
      expect(addressIn(documents()[0], 'action')).toBe('/api/v1/call-resume')
      expect((await session()).end_reason).toBe('transferred')
      // One of the two has left the room.
      expect((await resume(ROOM_OVER)).text).toContain('<Hangup/>')
      expect(app.rest.requests.filter(({ form }) => form['Status'] === 'completed')).toEqual([])
    })

    it('gives the caller back to the agent when who has pressed 1 is gone before the two are joined', async () => {
      const { caller, url, status } = await ringing()
      const askedBack = () => documents().filter((text) => text.includes('<Redirect'))
      app.rest.reply = async ({ form }) => {
        if (form['Twiml']?.includes('<Conference')) await ask(status, { CallStatus: 'completed' })
        const isFirstBack = form['Twiml']?.includes('<Redirect') && askedBack().length === 1
        return { status: isFirstBack ? 503 : 200, body: {} }
      }
      expect((await ask(`${url}/keys`, { Digits: '1' })).text).not.toContain('<Conference')
      expect(askedBack()).toEqual(Array(2).fill(expect.stringContaining('/api/v1/call-resume')))
      await isBack(caller)
    })

    it('gives the caller back to the agent, too, when they have hung up before they were in the room', async () => {
      const { caller, url, status } = await ringing()
      expect((await ask(`${url}/keys`, { Digits: '1' })).text).toContain('<Conference')
      await ask(status, { CallStatus: 'completed' })
      await ask(status, { CallStatus: 'completed' })
      await app.pass(() => documents().some((text) => text.includes('<Redirect')), 'the way back')
      expect(documents().at(-1)).toContain('/api/v1/call-resume')
      await isBack(caller)
      expect(asked().at(-1)).toContain('nobody there could take it')
    })

    it('fetches a caller back from the room to whom nobody comes, as the carrier did not say that they are there', async () => {
      const { caller, url } = await ringing()
      app.rest.reply = async ({ form }) => {
        if (!form['Twiml']?.includes('<Conference')) return { status: 200, body: {} }
        await leaves(caller)
        return { status: 504, body: {} }
      }
      expect((await ask(`${url}/keys`, { Digits: '1' })).text).toContain('not there any more')
      expect(documents().at(-1)).toContain('/api/v1/call-resume')
      await isBack(caller)
    })

    it.each([
      [500, 3],
      [429, 1],
    ])('gives the caller back to the agent at once where the carrier answers %i to all', async (status, times) => {
      const { url } = await ringing()
      app.rest.reply = () => ({ status, body: {} })
      expect((await ask(`${url}/keys`, { Digits: '1' })).text).toContain('not there any more')
      expect(asked().at(-1)).toContain('could not be put through')
      expect(documents()).toHaveLength(times)
    })

    it('does not count a caller as put through who could not be fetched back from an empty room: they are hung up', async () => {
      const { caller, url, status } = await ringing()
      app.rest.reply = ({ form }) => ({ status: form['Twiml']?.includes('<Redirect') ? 503 : 200, body: {} })
      await ask(`${url}/keys`, { Digits: '1' })
      await leaves(caller)
      await ask(status, { CallStatus: 'completed' })
      // It is waited for through most of a minute: each look and each step costs a busy machine its time.
      const reason = async () =>
        (await test.db.selectFrom('voice_sessions').select('end_reason').executeTakeFirst())?.end_reason
      expect(await passing(app.clock, reason, { what: 'the end to be written', stepMs: 500 })).toBe('carrier_lost')
      const hungUp = () => app.rest.requests.filter(({ form }) => form['Status'] === 'completed')
      await app.pass(() => hungUp().length > 0, 'its carrier to be told')
      expect(hungUp().map(({ path }) => path)).toEqual([expect.stringContaining('/Calls/CA1.json')])
    })

    it('tells who has pressed 1 that the caller is gone who hung up in that moment, and puts nobody through', async () => {
      const { caller, url } = await ringing()
      app.rest.reply = async () => {
        await leaves(caller)
        await app.post('/api/v1/call-status', {
          form: { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'completed' },
        })
        return { status: 200, body: {} }
      }
      const { text } = await ask(`${url}/keys`, { Digits: '1' })
      expect(text).toContain('not there any more')
      await app.clock.advance(5_000)
      await app.pass(async () => (await session()).end_reason, 'the end to be written down')
      expect((await session()).end_reason).toBe('caller_hangup')
      expect(app.served.logLines().map(({ msg }) => msg)).not.toContain('a call was put through')
    })

    it('leaves a caller alone who is back by itself, as when who has taken the call has left the room at once', async () => {
      const { caller, url, status } = await ringing()
      expect((await ask(`${url}/keys`, { Digits: '1' })).text).toContain('<Conference')
      await ask(status, { CallStatus: 'completed' })
      await isBack(caller, ROOM_OVER)
      await app.clock.advance(5_000)
      expect(documents().filter((text) => text.includes('<Redirect'))).toEqual([])
      expect(app.rest.requests.filter(({ path }) => path.endsWith('/CA-target.json'))).toEqual([])
      expect((await session()).end_reason).toBeNull()
    })

    it('has the caller come back, too, where that they have left the room is told before they are gone', async () => {
      const { caller, url, status } = await ringing()
      await ask(`${url}/keys`, { Digits: '1' })
      await isBack(caller, ROOM_OVER)
      expect(asked().at(-1)).toContain('nobody there could take it')
      await ask(status, { CallStatus: 'completed' })
      await app.clock.advance(5_000)
      expect((await session()).end_reason).toBeNull()
    })

    it('is not the agent’s again where the two talked, and that could not be noted as they were joined', async () => {
      const { caller, url } = await ringing()
      await sql`
        create function refuse_end() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = '57P03'; end $$`.execute(test.db)
      await sql`
        create trigger refusing before update on voice_sessions for each row execute function refuse_end()`.execute(
        test.db,
      )
      await ask(`${url}/keys`, { Digits: '1' })
      caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      await app.pass(async () => !(await isLive()), 'the end of our part')
      await app.clock.advance(120_000)
      const { rows } = await sql<{ owner: string }>`select owner from call_directory`.execute(test.db)
      const isOf = (owner: string | undefined) => sql`update call_directory set owner = ${owner}`.execute(test.db)
      // Another node may still wait for them. First, for it is tried again and again to note it.
      await isOf(OTHER_NODE)
      await sql`drop function refuse_end cascade`.execute(test.db)
      expect((await resume(ROOM_OVER)).text).toContain('<Connect')
      await isOf(rows[0]?.owner)
      const { text } = await resume(ROOM_OVER)
      expect(text).toContain('<Hangup/>')
      expect((await session()).end_reason).toBe('transferred')
    })

    it('is over where it was noted that the target has the call, which its session has not heard yet', async () => {
      const { caller, url } = await ringing()
      await ask(`${url}/keys`, { Digits: '1' })
      await leaves(caller)
      await makePutThrough({ db: test.db, clock: app.clock })(tenantTold('acme'), 'CA1')
      const { text } = await resume(ROOM_OVER)
      expect(text).toContain('<Hangup/>')
      expect(text).not.toContain('<Say')
    })

    it('is not noted of a call that another node has by then, to which its carrier has brought it back', async () => {
      const { caller, url } = await ringing()
      await ask(`${url}/keys`, { Digits: '1' })
      await leaves(caller)
      await sql`update call_directory set owner = ${OTHER_NODE}, epoch = 2`.execute(test.db)
      await app.pass(async () => !(await isLive()), 'the end of our part')
      await app.clock.advance(10_000)
      expect((await session()).end_reason).toBeNull()
      expect(app.served.logLines().map(({ msg }) => msg)).not.toContain('a call was put through')
    })

    it('takes the key that the address says of a carrier that was told to ask again', async () => {
      const { url } = await ringing()
      const joining = ask(`${url}/keys?digits=1&again=2`)
      await app.pass(async () => !(await isLive()), 'the end of our part')
      expect((await joining).text).toContain('<Conference')
    })

    it('is no time for the agent to say a supervisor’s words, who is told so, until it is back', async () => {
      const { url } = await ringing()
      const say = () =>
        app.served.call('acme', 'POST', '/sessions/MZCA1/actions', { action: 'say', text: 'She is coming.' })
      expect(await say()).toMatchObject({ status: 409, body: { code: 'conflict' } })
      await ask(`${url}/keys`, { Digits: '2' })
      expect((await say()).status).toBe(200)
    })

    it('brings the agent back when they do not press 1, are busy, or do not answer', async () => {
      const { url, status } = await ringing()
      expect((await ask(`${url}/keys`, { Digits: '2' })).text).toContain('<Hangup/>')
      expect(asked().at(-1)).toContain('nobody there could take it')
      expect((await ask(url)).text).toContain('not there any more')
      done('r-none')
      for (const [callId, told, words] of [
        ['c2', 'busy', 'the line is busy'],
        ['c3', 'no-answer', 'nobody answers'],
      ] as const) {
        const { last } = app.model
        last.tell({ type: 'response_started', responseId: `back-${callId}` })
        done(`back-${callId}`)
        calls({ target: TARGET, warm: true }, callId)
        await until(() => result(callId), { what: 'the result' })
        await ask(pathOf(placed().at(-1)?.form['StatusCallback']), { CallStatus: told })
        expect(asked().at(-1)).toContain(words)
      }
      expect((await ask(status, { CallStatus: 'busy' })).status).toBe(200)
    })

    it('rings nobody any more when the caller hangs up', async () => {
      const { caller, url } = await ringing()
      caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
      const isEnded = () =>
        app.rest.requests.some(({ path, form }) => path.endsWith('/CA-target.json') && form['Status'] === 'completed')
      await until(isEnded, { what: 'the end of the ringing' })
      expect((await ask(url)).text).toContain('not there any more')
    })

    it('is told to nobody but the carrier, at an address of ours', async () => {
      const { url, status } = await ringing()
      for (const path of [url, `${url}/keys`, status]) {
        expect((await ask(path, { Digits: '1' }, null)).status).toBe(401)
        expect((await ask(path, { Digits: '1' }, 'another token')).status).toBe(401)
      }
      for (const path of ['/api/v1/transfers/x', '/api/v1/transfers/x/keys', '/api/v1/transfers/x/status'])
        expect((await ask(path)).status).toBe(401)
      expect(documents()).toEqual([])
    })
  })
})
