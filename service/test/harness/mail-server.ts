import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { until } from './wait.ts'

/** A mail as the server got it: the envelope, the header with its folded lines joined, the text decoded. */
export type ReceivedMail = { from: string; to: string[]; header: string[]; text: string }

/** A mail server on this machine. Whoever starts it closes it. */
export type MailServer = {
  port: number
  mails: ReceivedMail[]
  /** Who logged in, in their order. */
  logins: { username: string; password: string }[]
  /** Of each mail, in their order, whether it came over TLS. */
  wasSecure: boolean[]
  /** From now on, what each message is answered with; null: it is taken. */
  refusal: { code: number; words: string } | null
  /** Whoever is refused as a recipient. */
  refused: Set<string>
  /** No message is answered any more. */
  hangs: boolean
  receive(count: number): Promise<ReceivedMail[]>
  close(): Promise<void>
}

/** `tls`: it offers STARTTLS, with this certificate. */
export async function startMailServer({ tls }: { tls?: { key: string; cert: string } } = {}): Promise<MailServer> {
  const server = new SMTPServer({
    ...{ authOptional: true, disableReverseLookup: true, allowInsecureAuth: true },
    disabledCommands: tls ? [] : ['STARTTLS'],
    ...tls,
    onAuth({ username = '', password }, _session, done) {
      mail.logins.push({ username, password: password ?? '' })
      done(null, { user: username })
    },
    onRcptTo({ address }, _session, done) {
      done(mail.refused.has(address) ? refusalOf({ code: 550, words: 'nobody of that name' }) : undefined)
    },
    onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (mail.hangs) return
        const to = envelope.rcptTo.map(({ address }) => address)
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        if (!mail.refusal) {
          mail.mails.push({ from, to, ...parsed(Buffer.concat(chunks).toString()) })
          mail.wasSecure.push(secure)
        }
        done(mail.refusal ? refusalOf(mail.refusal) : null)
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const mail: MailServer = {
    ...{ mails: [], logins: [], wasSecure: [], refusal: null, refused: new Set(), hangs: false },
    port: (server.server.address() as AddressInfo).port,
    async receive(count) {
      await until(() => mail.mails.length >= count, { what: `mail ${count}` })
      return mail.mails
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  return mail
}

function refusalOf({ code, words }: { code: number; words: string }): Error {
  return Object.assign(new Error(words), { responseCode: code })
}

function parsed(message: string): { header: string[]; text: string } {
  const [head = '', ...body] = message.split('\r\n\r\n')
  const header = head.replaceAll(/\r\n[ \t]/g, ' ').split('\r\n')
  return { header, text: unquoted(body.join('\r\n\r\n')).replaceAll('\r\n', '\n') }
}

/** RFC 2045's quoted-printable. */
function unquoted(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
