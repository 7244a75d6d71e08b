import { describe, expect, it } from 'vitest'
import { Browser } from '../../../test/harness/browser.ts'
import { useCallApp } from '../../../test/harness/call-app.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { ACCOUNT } from '../../../test/harness/served-app.ts'
import { StreamClient } from '../../../test/harness/stream-client.ts'
import { until } from '../../../test/harness/wait.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeSealer } from '../../kernel/seal.ts'
import { makeLog } from '../../platform/log.ts'
import { makeStreamTokens } from '../stream-token.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const app = useCallApp(test, {
  agent: { agent_name: 'Robin', greeting: 'Hello.' },
  settings: { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD },
})

type Granted = { ok: boolean; stream_url: string; stream_token: string }
type Media = { track?: string; payload: string; timestamp?: string; chunk?: string }

const CALLER_FRAME = Buffer.alloc(160, 0x11).toString('base64')
const PERSON_FRAME = Buffer.alloc(160, 0x22).toString('base64')

const ask = (kind: 'listen' | 'takeover', body?: unknown, tenant: string | null = 'acme', sid = 'MZCA1') =>
  app.served.call<Granted>(tenant, 'POST', `/sessions/${sid}/${kind}`, body)
const act = (body: unknown) => app.served.call('acme', 'POST', '/sessions/MZCA1/actions', body)
const shown = async () =>
  (
    await app.served.call<{ session: { taken_over: boolean; taken_over_by?: string } }>(
      'acme',
      'GET',
      '/sessions/MZCA1',
    )
  ).body.session

/** Opens a line with a fresh token. */
async function open(kind: 'listen' | 'takeover', body?: unknown): Promise<StreamClient> {
  const { status, body: granted } = await ask(kind, body)
  if (status !== 200) throw new Error(`${kind} was answered with ${status}`)
  return StreamClient.open(app.served.address, `/media-stream?stream_token=${granted.stream_token}`)
}

/** A call whose agent has greeted. */
async function greeted(): Promise<StreamClient> {
  const caller = await app.talk({ CallSid: 'CA1' })
  answers(20, 'r0')
  ends('r0')
  return caller
}

function ends(responseId: string): void {
  const [session] = app.model.sessions
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
  session?.tell({ type: 'response_done', responseId, status: 'completed', errorCode: null, fault: null, usage })
}

/** A person who has the call. */
async function takeOver(body?: unknown): Promise<StreamClient> {
  const person = await open('takeover', body)
  person.start({ callSid: 'CA1', streamSid: 'MZCA1' })
  await until(async () => (await shown()).taken_over, { what: 'the call to be taken over' })
  return person
}

const medias = (client: StreamClient) =>
  client.messages.filter(({ event }) => event === 'media').map(({ media }) => media as Media)
const bytesOf = (client: StreamClient, track: string) =>
  Buffer.concat(
    medias(client)
      .filter((media) => media.track === track)
      .map(({ payload }) => Buffer.from(payload, 'base64')),
  )

/** The caller says so many frames of 20 ms. */
async function speaks(caller: StreamClient, frames: number): Promise<void> {
  const { last } = app.model
  const agent = app.model.sessions.find(({ setup }) => setup.output === 'audio') ?? last
  for (let n = 0; n < frames; n += 1) {
    const before = agent.appended.length
    caller.media(CALLER_FRAME, 'MZCA1')
    await until(() => agent.appended.length > before, { what: 'the frame' })
    await app.clock.advance(20)
  }
}

/** The agent says so many ms at once. */
function answers(ms: number, id = 'r1'): void {
  const session = app.model.sessions.find(({ setup }) => setup.output === 'audio')
  session?.tell({ type: 'response_started', responseId: id })
  session?.speak(id, `i${id}`, Buffer.alloc(ms * 8, 0x33).toString('base64'))
}

const actions = async () =>
  (
    await app.served.administer<{ actions: { action: string; supervisor: string | null; reason: string | null }[] }>(
      'GET',
      '/supervisor-actions',
    )
  ).actions

// Actions are written down beside the call, which waits for no database: they are there soon.
const whoDid = async () => (await actions()).map(({ action, supervisor }) => [action, supervisor])
const whyReleased = async () =>
  (await actions()).filter(({ action }) => action === 'release').map(({ reason }) => reason)

describe('POST sessions/{stream_sid}/listen and takeover', () => {
  it('give a token that opens one socket', async () => {
    await app.talk({ CallSid: 'CA1' })
    for (const kind of ['listen', 'takeover'] as const) {
      const { status, body } = await ask(kind, { supervisor: 'ada' })
      expect(status).toBe(200)
      expect(body).toEqual({
        ok: true,
        stream_url: `${app.served.app.publicUrl().replace('http', 'ws')}/media-stream`,
        stream_token: expect.any(String),
      })
      const path = `/media-stream?stream_token=${body.stream_token}`
      await StreamClient.open(app.served.address, path)
      await expect(StreamClient.open(app.served.address, path)).rejects.toThrow('401')
      expect((await ask(kind)).status).toBe(200)
    }
  })

  it("are nobody's but the tenant's, and need what they say", async () => {
    await app.served.furnish('other', { number: '+12025550141' })
    await app.talk({ CallSid: 'CA1' })
    for (const kind of ['listen', 'takeover'] as const) {
      const answers = [
        await ask(kind, { colour: 'blue' }),
        await ask(kind, {}, null),
        await ask(kind, {}, 'other'),
        await ask(kind, {}, 'acme', 'MZ0'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([400, 401, 404, 404])
    }
  })

  it('do not open the stream of a call, nor does its token open a line', async () => {
    await app.talk({ CallSid: 'CA1' })
    const { body } = await ask('listen')
    const client = await StreamClient.open(app.served.address)
    client.start({ callSid: 'CA2', streamSid: 'MZCA2', parameters: { stream_token: body.stream_token } })
    expect(await client.closed()).toBe(4401)
    expect(client.closeReason).toMatch(/belongs in the address/)
  })
})

describe('who listens to a call', () => {
  it('hears both sides as the caller does, and is told the end', async () => {
    const caller = await app.talk({ CallSid: 'CA1' })
    const listener = await open('listen')
    await until(() => listener.messages.length >= 2, { what: 'the start' })
    expect(listener.messages.slice(0, 2)).toMatchObject([
      { event: 'connected' },
      { event: 'start', streamSid: 'MZCA1', start: { callSid: 'CA1', tracks: ['inbound', 'outbound'] } },
    ])
    answers(1_000)
    await speaks(caller, 20)
    await until(() => bytesOf(listener, 'inbound').length >= 20 * 160, { what: 'the caller' })
    // 400 ms have passed: that is what the caller has heard of a second that was sent at once.
    await until(() => bytesOf(listener, 'outbound').length >= 400 * 8, { what: 'the agent' })
    expect(bytesOf(listener, 'outbound')).toEqual(Buffer.alloc(400 * 8, 0x33))
    expect(bytesOf(listener, 'inbound')).toEqual(Buffer.alloc(20 * 160, 0x11))
    expect(medias(listener).every(({ payload }) => Buffer.from(payload, 'base64').length <= 160)).toBe(true)
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(() => listener.closeCode !== null, 'the end')
    expect(listener.closeCode).toBe(1000)
    expect(listener.messages.at(-1)).toMatchObject({ event: 'stop', stop: { callSid: 'CA1' } })
  })

  it('does not hear what was cleared, and is not heard by anybody', async () => {
    const caller = await app.talk({ CallSid: 'CA1' })
    const listener = await open('listen')
    await until(() => listener.messages.length >= 2, { what: 'the start' })
    answers(3_000)
    await speaks(caller, 10)
    await act({ action: 'mute' })
    await until(() => caller.messages.some(({ event }) => event === 'clear'), { what: 'the silence' })
    const { appended } = app.model.last
    const [before, sent] = [appended.length, caller.messages.length]
    for (let n = 0; n < 10; n += 1) listener.media(PERSON_FRAME, 'MZCA1')
    await speaks(caller, 20)
    await until(() => bytesOf(listener, 'inbound').length >= 30 * 160, { what: 'the caller' })
    expect(bytesOf(listener, 'outbound').length).toBeLessThanOrEqual(400 * 8)
    expect(appended.slice(before).every((payload) => payload === CALLER_FRAME)).toBe(true)
    expect(caller.messages).toHaveLength(sent)
  })

  it('may be several, and nothing is left of one who is gone', async () => {
    const caller = await app.talk({ CallSid: 'CA1' })
    const [first, second] = [await open('listen'), await open('listen')]
    await until(() => first.messages.length >= 2 && second.messages.length >= 2, { what: 'the starts' })
    first.close()
    await first.closed()
    await speaks(caller, 10)
    await until(() => bytesOf(second, 'inbound').length >= 10 * 160, { what: 'the caller' })
  })
})

describe('a call that a person takes over', () => {
  it('joins the two: the agent is cut, and each hears the other', async () => {
    const caller = await app.talk({ CallSid: 'CA1' })
    answers(2_000)
    await until(() => medias(caller).length > 0, { what: 'the agent' })
    const person = await takeOver({ supervisor: 'ada' })
    await until(() => caller.messages.some(({ event }) => event === 'clear'), { what: 'the silence' })
    const sent = medias(caller).length
    answers(400, 'r2')
    for (let n = 0; n < 5; n += 1) person.media(PERSON_FRAME, 'MZCA1')
    await until(() => medias(caller).length >= sent + 5, { what: 'the person' })
    expect(
      medias(caller)
        .slice(sent)
        .map(({ payload }) => payload),
    ).toEqual(Array(5).fill(PERSON_FRAME))
    await speaks(caller, 5)
    await until(() => medias(person).length >= 5, { what: 'the caller' })
    expect(medias(person)[0]).toEqual({ payload: CALLER_FRAME })
    await expect.poll(whoDid).toEqual([['takeover', 'ada']])
    expect(await shown()).toMatchObject({ taken_over_by: 'ada' })
  })

  it('is had by nobody in particular where the name of whoever has it is blank', async () => {
    await greeted()
    await takeOver({ supervisor: ' ' })
    const call = await shown()
    expect(call).toMatchObject({ taken_over: true })
    expect(call).not.toHaveProperty('taken_over_by')
    await expect.poll(whoDid).toEqual([['takeover', null]])
  })

  it('is given back by an action: the agent knows what was said, and says so', async () => {
    await greeted()
    const person = await takeOver({ supervisor: 'ada' })
    const [agent, scribe] = app.model.sessions
    expect(scribe?.setup).toMatchObject({ output: 'text', tools: [] })
    person.media(PERSON_FRAME, 'MZCA1')
    await until(() => scribe?.appended.includes(PERSON_FRAME), { what: 'the person to be heard' })
    scribe?.tell({ type: 'speech_started', itemId: 'p1', audioStartMs: 0 })
    expect((await act({ action: 'say', text: 'Hello.' })).status).toBe(409)
    expect((await act({ action: 'release', supervisor: 'ada' })).status).toBe(200)
    expect(await person.closed()).toBe(1000)
    expect(person.messages.at(-1)).toMatchObject({ event: 'stop' })
    scribe?.tell({ type: 'caller_transcript', itemId: 'p1', text: 'I am Ada, and your refund is on its way.' })
    await app.clock.advance(300)
    const said = {
      type: 'system_message',
      text: 'Your colleague said to the caller: I am Ada, and your refund is on its way.',
    }
    const at = agent?.commands.findIndex((command) => JSON.stringify(command) === JSON.stringify(said)) ?? -1
    expect(at).toBeGreaterThan(-1)
    expect(agent?.commands.slice(at)).toContainEqual(
      expect.objectContaining({ type: 'respond', instructions: expect.stringContaining('You have the call again') }),
    )
    const after = await shown()
    expect(after).toMatchObject({ taken_over: false })
    expect(after).not.toHaveProperty('taken_over_by')
    await expect.poll(async () => (await actions()).map(({ action }) => action).sort()).toEqual(['release', 'takeover'])
    const { body } = await app.served.call<{ voice_sessions: { id: string }[] }>('acme', 'GET', '/voice-sessions')
    const id = body.voice_sessions[0]?.id
    await app.pass(async () => {
      const { body: one } = await app.served.call<{ voice_session: { transcript: { role: string; text: string }[] } }>(
        'acme',
        'GET',
        `/voice-sessions/${id}`,
      )
      return one.voice_session.transcript.some(({ role, text }) => role === 'supervisor' && text.startsWith('I am Ada'))
    }, 'the transcript')
  })

  it('is given back by stop, by a goodbye, and after two seconds by a line that is lost', async () => {
    await greeted()
    const asked: string[] = []
    const ways: ((person: StreamClient) => void)[] = [
      (person) => person.send({ event: 'stop', streamSid: 'MZCA1', stop: {} }),
      (person) => person.close(),
      (person) => person.terminate(),
    ]
    for (const leave of ways) {
      const [agent] = app.model.sessions
      const responds = () => agent?.commands.filter((command) => command.type === 'respond').length ?? 0
      const before = responds()
      leave(await takeOver())
      await app.pass(() => responds() > before, 'the agent to come back')
      asked.push(agent?.commands.findLast((command) => command.type === 'respond')?.instructions ?? '')
      answers(20, `r${asked.length}`)
      ends(`r${asked.length}`)
    }
    await expect.poll(whyReleased).toEqual(['the connection was lost', 'the person left', 'the person stopped'])
    expect(asked.map((instructions) => instructions.includes('sorry'))).toEqual([false, false, true])
  })

  it('is open to whoever is there first once the line of who had it is lost', async () => {
    await greeted()
    const person = await takeOver()
    person.terminate()
    await until(async () => !(await shown()).taken_over, { what: 'the loss' })
    const [agent] = app.model.sessions
    const before = agent?.commands.length
    await takeOver()
    await app.clock.advance(5_000)
    expect(agent?.commands.slice(before).filter(({ type }) => type === 'respond')).toEqual([])
  })

  it('loses nothing of what was said just before somebody else has it, and waits for their last words alone', async () => {
    await greeted()
    const second = await open('takeover')
    const first = await takeOver()
    const [agent, before] = app.model.sessions
    first.media(PERSON_FRAME, 'MZCA1')
    await until(() => before?.appended.includes(PERSON_FRAME), { what: 'the person to be heard' })
    before?.tell({ type: 'speech_started', itemId: 'p1', audioStartMs: 0 })
    first.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    expect(await first.closed()).toBe(1000)
    second.start({ callSid: 'CA1', streamSid: 'MZCA1' })
    await until(() => app.model.sessions.length === 3, { what: 'the second person to be heard' })
    const [, , after] = app.model.sessions
    after?.tell({ type: 'speech_started', itemId: 'p2', audioStartMs: 0 })
    await app.clock.advance(300)
    expect(before?.isClosed).toBe(false)
    second.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    expect(await second.closed()).toBe(1000)
    before?.tell({ type: 'caller_transcript', itemId: 'p1', text: 'Ada has a word with you.' })
    const told = () => JSON.stringify(agent?.commands)
    expect(told()).toContain('Your colleague said to the caller: Ada has a word with you.')
    expect(told()).not.toContain('You have the call again')
    after?.tell({ type: 'caller_transcript', itemId: 'p2', text: 'It is on its way.' })
    await app.clock.advance(300)
    expect(told().indexOf('It is on its way.')).toBeLessThan(told().indexOf('You have the call again'))
    await app.clock.advance(5_000)
    expect([before?.isClosed, after?.isClosed]).toEqual([true, true])
  })

  it('is refused to a second person, who may have asked before', async () => {
    await app.talk({ CallSid: 'CA1' })
    const late = await open('takeover')
    const person = await takeOver()
    expect((await ask('takeover')).status).toBe(409)
    late.start({ callSid: 'CA1', streamSid: 'MZCA1' })
    expect(await late.closed()).toBe(4409)
    expect(person.closeCode).toBeNull()
  })

  it('is refused while the call is being put through, also to who has asked before', async () => {
    const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
    const document = { tenant_id: 'acme', telephony, transfer_targets: ['+12025550199'] }
    await app.served.administer('PUT', '/tenants/acme', document)
    await app.talk({ CallSid: 'CA1' })
    const late = await open('takeover')
    const asked = { action: 'transfer', target: '+12025550199' }
    expect((await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', asked)).status).toBe(200)
    expect(await ask('takeover')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('being put through') },
    })
    const shown = await app.served.call('acme', 'GET', '/sessions/MZCA1')
    expect([shown.status, JSON.stringify(shown.body).includes('put_through')]).toEqual([200, false])
    late.start({ callSid: 'CA1', streamSid: 'MZCA1' })
    expect(await late.closed()).toBe(4409)
  })

  it('is refused while nobody hears it, told its end, and kept with it', async () => {
    const caller = await app.talk({ CallSid: 'CA1' })
    const person = await takeOver()
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    expect(await person.closed()).toBe(1000)
    expect(person.messages.at(-1)).toMatchObject({ event: 'stop' })
    const kept = async () => (await actions()).map(({ action, reason }) => ({ action, reason }))
    const release = { action: 'release', reason: 'the call is over' }
    await expect.poll(kept).toEqual(expect.arrayContaining([{ action: 'takeover', reason: null }, release]))
    const other = await app.talk({ CallSid: 'CA2' })
    other.terminate()
    await until(async () => (await ask('takeover', {}, 'acme', 'MZCA2')).status === 409, { what: 'the loss' })
  })

  it('releases nothing that nobody has', async () => {
    await app.talk({ CallSid: 'CA1' })
    expect(await act({ action: 'release' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })

  it('ends for a person who never starts', async () => {
    await app.talk({ CallSid: 'CA1' })
    const person = await open('takeover')
    await app.clock.advance(10_000)
    expect(await person.closed()).toBe(1008)
    expect((await shown()).taken_over).toBe(false)
  })
})

describe('a line whose credential is good no more', () => {
  type Opener = { email: string; browser: Browser; userId: string }

  async function revokeKey(): Promise<void> {
    const { api_keys } = await app.served.administer<{ api_keys: { id: string }[] }>('GET', '/tenants/acme/api-keys')
    for (const { id } of api_keys) await app.served.administer('DELETE', `/tenants/acme/api-keys/${id}`)
  }

  async function operator(): Promise<Opener> {
    const email = 'grace@acme.example'
    const body = { email, name: 'Grace', role: 'operator', password: PASSWORD }
    const { user } = await app.served.administer<{ user: { id: string } }>('POST', '/tenants/acme/users', body)
    const browser = new Browser(app.served)
    expect((await browser.login(email, PASSWORD)).status).toBe(200)
    return { email, browser, userId: user.id }
  }

  async function openAs(browser: Browser, kind: 'listen' | 'takeover', headers = {}): Promise<StreamClient> {
    const { status, body } = await browser.call('POST', `/sessions/MZCA1/${kind}`, { body: {}, headers })
    expect(status).toBe(200)
    return StreamClient.open(app.served.address, `/media-stream?stream_token=${body['stream_token']}`)
  }

  async function closing(line: StreamClient): Promise<number | null> {
    await app.pass(() => line.closeCode !== null, 'the line to be closed')
    return line.closeCode
  }

  it('is closed, and the agent has the call again as after a line that is lost', async () => {
    await greeted()
    const listener = await open('listen')
    await until(() => listener.messages.length >= 2, { what: 'the start' })
    const person = await takeOver({ supervisor: 'ada' })
    await app.clock.advance(3_000)
    expect([listener.closeCode, person.closeCode]).toEqual([null, null])
    await revokeKey()
    expect([await closing(listener), await closing(person)]).toEqual([4401, 4401])
    const [agent] = app.model.sessions
    const isBack = () => JSON.stringify(agent?.commands.at(-1)).includes('sorry')
    await app.pass(isBack, 'the agent to come back')
    await expect.poll(whyReleased).toEqual(['the credential is not good any more'])
  })

  it('is not opened by a token from before', async () => {
    await app.talk({ CallSid: 'CA1' })
    const { body } = await ask('listen')
    await revokeKey()
    const opening = StreamClient.open(app.served.address, `/media-stream?stream_token=${body.stream_token}`)
    await expect(opening).rejects.toThrow('401')
  })

  it.each<[string, (who: Opener) => Promise<unknown>]>([
    ['logs out', ({ browser }) => browser.call('POST', '/admin/auth/logout')],
    ['is removed', ({ userId }) => app.served.administer('DELETE', `/tenants/acme/users/${userId}`)],
    [
      'may only look',
      ({ userId }) => app.served.administer('PATCH', `/tenants/acme/users/${userId}`, { role: 'viewer' }),
    ],
  ])('is that of a person who %s', async (_how, leave) => {
    await app.talk({ CallSid: 'CA1' })
    const who = await operator()
    const lines = [await openAs(who.browser, 'listen'), await openAs(who.browser, 'takeover')]
    await app.clock.advance(3_000)
    expect(lines.map(({ closeCode }) => closeCode)).toEqual([null, null])
    await leave(who)
    for (const line of lines) expect(await closing(line)).toBe(4401)
  })

  it("is an administrator's once the tenant is gone, with a session and with the key", async () => {
    await app.talk({ CallSid: 'CA1' })
    const ada = new Browser(app.served)
    await ada.login('ada', PASSWORD)
    const forAcme = { 'x-tenant-id': 'acme' }
    const byKey = { ...forAcme, 'x-admin-key': app.served.adminKey }
    const lines = [await openAs(ada, 'listen', forAcme), await openAs(new Browser(app.served), 'listen', byKey)]
    await app.clock.advance(3_000)
    expect(lines.map(({ closeCode }) => closeCode)).toEqual([null, null])
    await test.db.updateTable('tenants').set({ deleted_at: new Date() }).execute()
    for (const line of lines) expect(await closing(line)).toBe(4401)
  })

  it('is no line of a node of an earlier version, whose tokens name none', async () => {
    await app.talk({ CallSid: 'CA1' })
    const tokens = makeStreamTokens({
      ...{ db: test.db, clock: app.clock, log: makeLog({ level: 'silent', secrets: [] }), ttlMs: 60_000 },
      secrets: [makeSealer(Buffer.alloc(32, 1)).digest('stream tokens')],
    })
    const token = tokens.issueLine({
      kind: 'listen',
      tenant: 'acme' as TenantId,
      stream_sid: 'MZCA1',
      supervisor: null,
    })
    await tokens.close()
    const listener = await StreamClient.open(app.served.address, `/media-stream?stream_token=${token}`)
    await revokeKey()
    await app.clock.advance(3_000)
    expect(listener.closeCode).toBeNull()
  })

  it('keeps the session in use of whoever speaks, and not of who listens', async () => {
    await app.talk({ CallSid: 'CA1' })
    const { browser } = await operator()
    const before = new Date(app.clock.now() - 600_000)
    const lastSeen = async () => {
      const [session] = await test.db.selectFrom('admin_sessions').select('last_seen_at').execute()
      return session?.last_seen_at
    }
    const listener = await openAs(browser, 'listen')
    await test.db.updateTable('admin_sessions').set({ last_seen_at: before }).execute()
    await app.clock.advance(3_000)
    expect([await lastSeen(), listener.closeCode]).toEqual([before, null])
    await openAs(browser, 'takeover')
    await test.db.updateTable('admin_sessions').set({ last_seen_at: before }).execute()
    await app.pass(async () => (await lastSeen())?.getTime() !== before.getTime(), 'the use to be noted')
  })
})
