import { once } from 'node:events'
import { Socket } from 'node:net'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Clock } from '../../kernel/clock.ts'
import { type Mail, type Mailer, MailFault } from './port.ts'

type Options = {
  clock: Clock
  /** `smtp://` or `smtps://`, with user and password where the server asks for them. */
  url: string
  /** The address that mail comes from. */
  from: string
}

const SEND_WITHIN_MS = 10_000
/** Should nobody be there to count: what the library does by itself. */
const SILENT_MS = 15_000
/** Whoever does not let go of the connection has it taken away. */
const CLOSE_WITHIN_MS = 1_000
const PORTS = { smtp: 587, smtps: 465 }
/**
 * Where mail would go out without TLS as well, as to a relay of this machine, nothing is lost by one whose certificate is its own, as every
 * mail server has that nobody gave another one, or that cannot begin TLS after all.
 */
const IF_OFFERED = { opportunisticTLS: true, tls: { rejectUnauthorized: false } }
/** What of a server's own words is passed on. */
const MAX_REASON_CHARS = 300

/**
 * Mail over SMTP, a connection for each. A password goes over TLS alone, except to this machine.
 *
 * @throws TypeError for an address that is none.
 */
export function smtpMailer({ clock, url, from }: Options): Mailer {
  const server = serverOf(url)
  return {
    address: server.address,
    async send(mail, signal) {
      const socket = new Socket()
      // Once it is given up, nobody asks any more.
      socket.on('error', () => undefined)
      const connection = new SMTPConnection({
        connection: socket,
        ...{ host: server.host, port: server.port, secure: server.isSecure, requireTLS: server.needsTls },
        ...(!server.isSecure && !server.needsTls && IF_OFFERED),
        ...{ connectionTimeout: SILENT_MS, greetingTimeout: SILENT_MS, socketTimeout: SILENT_MS },
        socketCloseTimeout: CLOSE_WITHIN_MS,
      })
      const { promise: ending, reject } = Promise.withResolvers<never>()
      const stop = () => reject(new MailFault('The mail was given up: the service stops.', { isStopped: true }))
      const cancel = clock.after(SEND_WITHIN_MS, () => reject(new MailFault('The mail server took over 10 s.')))
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      connection.on('error', (error: Error) => reject(faultOf(error)))
      connection.on('end', () => reject(new MailFault('The mail server closed the connection.')))
      try {
        const message = await Promise.race([ending, written(mail, from, new Date(clock.now()))])
        await Promise.race([ending, reached(socket, server)])
        return await Promise.race([ending, conversation(connection, server.login, { from, to: mail.to, message })])
      } finally {
        cancel()
        signal.removeEventListener('abort', stop)
        if (socket.connecting) socket.destroy()
        connection.close()
      }
    },
  }
}

type Login = { user: string; pass: string } | null

function serverOf(text: string) {
  const url = new URL(text)
  const isSecure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port) || PORTS[isSecure ? 'smtps' : 'smtp']
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const login: Login = user === '' ? null : { user, pass }
  const isHere = host === 'localhost' || host === '::1' || host.startsWith('127.')
  const address = `${url.protocol}//${url.hostname}:${port}`
  return { host, port, isSecure, needsTls: login !== null && !isHere, login, address }
}

/** Nothing of it is read from a file or fetched, whatever its words look like. */
async function written({ id, to, subject, text }: Mail, from: string, date: Date): Promise<Buffer> {
  const composer = new MailComposer({
    ...{ from: addressed(from), to: addressed(to), subject, text, date, textEncoding: 'quoted-printable' },
    messageId: `<${id}@${from.split('@')[1] ?? 'parley'}>`,
    // No program shall answer what a program wrote (RFC 3834).
    headers: { 'auto-submitted': 'auto-generated' },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return composer.compile().build()
}

/** As it stands, never read as a list or as a name with an address. */
function addressed(address: string) {
  return { name: '', address }
}

/**
 * By the name as this machine reads it, as everything else is. The library asks name servers first, and goes by what is written here
 * (`/etc/hosts`, `localhost`) only where those say no.
 */
async function reached(socket: Socket, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    socket.connect({ host, port })
    await once(socket, 'connect')
  } catch (error) {
    // Node tries every address of a name, and gives all the failures at once, without a word of its own.
    throw faultOf(error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error))
  }
}

type Handed = { from: string; to: string; message: Buffer }

async function conversation(connection: SMTPConnection, login: Login, { from, to, message }: Handed): Promise<void> {
  await asked((done) => connection.connect(done))
  if (login) await asked((done) => connection.login({ credentials: login }, done))
  await asked((done) => connection.send({ from, to: [to] }, message, (error) => done(error)))
  connection.quit()
}

function asked(ask: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => ask((error) => (error ? reject(faultOf(error)) : resolve())))
}

function faultOf(error: Error & { responseCode?: unknown; response?: unknown }): MailFault {
  const reply = typeof error.responseCode === 'number' ? error.responseCode : null
  const reason = typeof error.response === 'string' ? error.response : error.message
  const said = reason
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .slice(0, MAX_REASON_CHARS)
    .toWellFormed()
  return new MailFault(
    reply === null ? `The mail server cannot be used: ${said}` : `The mail server answered ${said}`,
    {
      reply,
    },
  )
}
