import { describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from '../../test/harness/call-app.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'

const FORM = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }
const INCOMING = '/api/v1/incoming-call'
const RESUME = '/api/v1/call-resume'
const FALLBACK = '+12025550150'

describe('a caller to an agent who speaks German', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    agent: { greeting: 'Guten Tag.', speech: { language: 'de-AT' } },
    document: { limits: { max_concurrent_calls: 1 } },
  })

  it('is told in German that all lines are busy', async () => {
    await app.post(INCOMING, { form: FORM })
    const { text } = await app.post(INCOMING, { form: { ...FORM, CallSid: 'CA2' } })
    expect(text).toMatch(/<Say language="de-DE">Zurzeit sind alle Leitungen belegt[^<]*<\/Say><Hangup\/>/)
  })

  it('is told in German that the call cannot go on, by what the records know of it', async () => {
    await app.ring(FORM)
    const { text } = await app.post(RESUME, { form: FORM })
    expect(text).toMatch(/<Say language="de-DE">Es tut uns leid, das Gespräch[^<]*<\/Say><Hangup\/>/)
  })
})

describe('a caller whose call is lost here', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    agent: { greeting: 'Guten Tag.', speech: { language: 'de' } },
    document: {
      telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK },
    },
  })

  it('hears an apology in the language of the agent, and no goodbye, before the number that takes it', async () => {
    await app.talk(FORM)
    let text = ''
    // A call that loses its stream again and again is not connected any more.
    for (let times = 0; !text.includes('<Dial'); times += 1) {
      expect(times).toBeLessThan(10)
      ;({ text } = await app.post(RESUME, { form: FORM }))
    }
    expect(text).toMatch(/<Say language="de-DE">Es tut mir leid, wir haben technische[^<]*<\/Say><Dial /)
    expect(text).toContain(`<Number>${FALLBACK}</Number>`)
  })

  it('is not taken from whoever answers that number by an apology that the carrier did not take at first', async () => {
    await app.talk(FORM)
    app.rest.reply = () => ({ status: 503, body: {} })
    app.model.last.tell({ type: 'closed', code: '401', message: '', fault: 'fatal' })
    const apologies = () => app.rest.requests.filter(({ form }) => form['Twiml']?.includes('Es tut mir leid'))
    await app.pass(() => apologies().length > 0 && !app.rest.isAsked, 'the apology to be refused')
    expect((await app.post(RESUME, { form: FORM })).text).toContain(`<Number>${FALLBACK}</Number>`)
    await app.clock.advance(10_000)
    await app.post(RESUME, { form: { ...FORM, CallSid: 'CA9' } })
    expect(apologies()).toHaveLength(1)
  })
})
