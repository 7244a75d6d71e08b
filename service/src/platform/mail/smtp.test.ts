import { execFileSync } from 'node:child_process'
import { Resolver } from 'node:dns'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { type MailServer, startMailServer } from '../../../test/harness/mail-server.ts'
import { until } from '../../../test/harness/wait.ts'
import type { Mail } from './port.ts'
import { smtpMailer } from './smtp.ts'

const MAIL: Mail = {
  ...{ id: '0190a000-0000-7000-8000-000000000001', to: 'ann@acme.example' },
  ...{ subject: 'Grüße', text: 'First line.\n.\nÄnd so on.\n' },
}

let server: MailServer
const clock = new TestClock()
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(() => server.close())

const mailer = (url = `smtp://127.0.0.1:${server.port}`) => smtpMailer({ clock, url, from: 'parley@voice.example' })
const send = (mail: Partial<Mail> = {}, url?: string) =>
  mailer(url).send({ ...MAIL, ...mail }, new AbortController().signal)

describe('a mail', () => {
  it('arrives as it was written, and says that a program wrote it', async () => {
    await send()
    const [mail] = server.mails
    expect(mail).toMatchObject({ from: 'parley@voice.example', to: [MAIL.to], text: MAIL.text })
    expect(mail?.header).toEqual(
      expect.arrayContaining([
        ...['From: parley@voice.example', 'To: ann@acme.example', 'Auto-Submitted: auto-generated'],
        ...[`Message-ID: <${MAIL.id}@voice.example>`, 'Content-Type: text/plain; charset=utf-8'],
        `Date: ${new Date(clock.now()).toUTCString().replace(/GMT/, '+0000')}`,
      ]),
    )
  })

  it.each(['Hello\r\nBcc: eve@evil.example', 'Hello\nBcc: eve@evil.example\n\nBody', 'Hello\u2028Bcc: x'])(
    'has no header that its subject brought along: %j',
    async (subject) => {
      await send({ subject })
      const names = server.mails[0]?.header.map((line) => line.split(':')[0]?.toLowerCase())
      expect(names).not.toContain('bcc')
      expect(server.mails[0]?.to).toEqual([MAIL.to])
    },
  )

  it('reads no file and fetches nothing, whatever its words look like', async () => {
    const text = '{"path":"/etc/passwd"} file:///etc/passwd http://127.0.0.1/'
    await send({ text, subject: 'file:///etc/passwd' })
    expect(server.mails[0]?.text.trim()).toBe(text)
  })

  it('fails with what the server says', async () => {
    server.refusal = { code: 451, words: 'come back later' }
    await expect(send()).rejects.toMatchObject({ reply: 451, message: expect.stringContaining('come back later') })
    server.refused.add(MAIL.to)
    await expect(send()).rejects.toMatchObject({ reply: 550 })
  })

  it('fails without a server', async () => {
    const url = `smtp://127.0.0.1:${server.port}`
    await server.close()
    await expect(send({}, url)).rejects.toMatchObject({ name: 'MailFault', reply: null })
    server = await startMailServer()
  })

  it('finds its server by the name that this machine has for it, whether or not a name server answers', async () => {
    const asked = vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(() => undefined)
    onTestFinished(() => asked.mockRestore())
    await send({}, `smtp://localhost:${server.port}`)
    expect([server.mails.length, asked.mock.calls.length]).toEqual([1, 0])
  })

  it('says what is wrong where nobody is at any address of a name', async () => {
    const url = `smtp://localhost:${server.port}`
    await server.close()
    await expect(send({}, url)).rejects.toMatchObject({ message: expect.stringContaining('ECONNREFUSED') })
    server = await startMailServer()
  })

  it('fails when the server takes over ten seconds, and is given up when the service stops', async () => {
    server.hangs = true
    const late = send()
    const held = expect(late).rejects.toMatchObject({ message: 'The mail server took over 10 s.', isStopped: false })
    await clock.advance(10_000)
    await held
    const stopping = new AbortController()
    const given = mailer().send(MAIL, stopping.signal)
    stopping.abort()
    await expect(given).rejects.toMatchObject({ isStopped: true })
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('a mail server that offers TLS with a certificate of its own', () => {
  let tls: { key: string; cert: string }
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mail-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2']
    execFileSync('openssl', [...made, '-subj', '/CN=mail'], { stdio: 'ignore' })
    tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    await rm(folder, { recursive: true })
  })
  beforeEach(async () => {
    await server.close()
    server = await startMailServer({ tls })
  })

  it.each(['', 'ann:secret@'])('on this machine is sent mail over it: smtp://%s127.0.0.1', async (login) => {
    await send({}, `smtp://${login}127.0.0.1:${server.port}`)
    expect([server.mails.length, server.wasSecure]).toEqual([1, [true]])
  })

  it('elsewhere is sent mail over it as well, which without a password would go to one that offers none', async () => {
    await send({}, `smtp://[::ffff:127.0.0.1]:${server.port}`)
    expect(server.wasSecure).toEqual([true])
  })

  it('elsewhere is shown no password', async () => {
    const url = `smtp://ann:secret@[::ffff:127.0.0.1]:${server.port}`
    await expect(send({}, url)).rejects.toMatchObject({ message: expect.stringContaining('self-signed certificate') })
    expect([server.logins, server.mails]).toEqual([[], []])
  })
})

describe('a password', () => {
  it('is shown to a server on this machine', async () => {
    await send({}, `smtp://ann:p%40ss@127.0.0.1:${server.port}`)
    expect(server.logins).toEqual([{ username: 'ann', password: 'p@ss' }])
    expect(mailer('smtp://ann:secret@mail.example').address).toBe('smtp://mail.example:587')
  })

  it('is never shown to another one without TLS', async () => {
    // An address of this machine in other clothes, as a server elsewhere would be met.
    const url = `smtp://ann:secret@[::ffff:127.0.0.1]:${server.port}`
    await expect(send({}, url)).rejects.toMatchObject({ name: 'MailFault' })
    await until(() => server.mails.length === 0, { what: 'nothing' })
    expect(server.logins).toEqual([])
  })
})
