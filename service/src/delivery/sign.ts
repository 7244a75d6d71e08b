import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** What is sent: its id is the same in every attempt, its second that of the attempt. */
export type SignedContent = { id: string; timestampSeconds: number; body: string }

/**
 * The `webhook-signature` of Standard Webhooks: one signature for each secret, so that a receiver may know either while
 * secrets are changed. Behind `whsec_` stands a key in base64; any other secret is its own bytes.
 *
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureOf(secrets: readonly string[], { id, timestampSeconds, body }: SignedContent): string {
  const content = `${id}.${timestampSeconds}.${body}`
  return secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`).join(' ')
}

/** The headers of an attempt. Without a secret there is no signature. */
export function signedHeaders(secrets: readonly string[], content: SignedContent): Record<string, string> {
  return {
    'webhook-id': content.id,
    'webhook-timestamp': String(content.timestampSeconds),
    ...(secrets.length > 0 && { 'webhook-signature': signatureOf(secrets, content) }),
  }
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)
}
