import { email, emails, setting, smtpUrl } from './config-values.ts'

/** How the people of this installation are told what waits for them. */
export const MAIL_SETTINGS = {
  notifySmtpUrl: setting({
    name: 'NOTIFY_SMTP_URL',
    shownDefault: 'unset',
    meaning:
      'The server that takes our mail: smtp://user:password@host:587, or smtps:// for TLS from the first byte. With a password smtp:// turns to TLS first, or sends nothing. Unset: nobody is told anything by mail.',
    read: smtpUrl,
  }),
  notifyFrom: setting({
    name: 'NOTIFY_FROM',
    shownDefault: 'unset',
    meaning: 'The address that our mail comes from.',
    read: email,
  }),
  notifyTo: setting({
    name: 'NOTIFY_TO',
    shownDefault: 'unset',
    meaning: 'Who is told of access requests and of what waits in queues: addresses, separated by commas.',
    read: emails,
  }),
}

type MailValues = { notifySmtpUrl?: string | null; notifyFrom?: string | null; notifyTo?: string[] }

/** What these settings cannot mean together, a sentence for each. */
export function mailContradictions({ notifySmtpUrl, notifyFrom, notifyTo = [] }: MailValues): string[] {
  if (notifySmtpUrl) {
    const faults = []
    if (notifyFrom === null) faults.push('NOTIFY_FROM must be set when NOTIFY_SMTP_URL is: mail comes from somebody.')
    if (notifyTo.length === 0) faults.push('NOTIFY_TO must be set when NOTIFY_SMTP_URL is: mail goes to somebody.')
    return faults
  }
  const hasOther = Boolean(notifyFrom) || notifyTo.length > 0
  if (notifySmtpUrl === undefined || !hasOther) return []
  return ['NOTIFY_SMTP_URL must be set when NOTIFY_FROM or NOTIFY_TO is: there is no server to send mail with.']
}
