import type { Components } from './components.ts'
import type { Schema } from './schema.ts'

/** An event as it is posted to the webhook of a tenant. */
export type DescribedEvent = { event: string; when: string; payload: Schema; example: object }

const text = { type: 'string' }

/** What each post has beside its body. */
const PARAMETERS = [
  ['webhook-id', 'The id of the event, the same in every attempt.'],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970.'],
  ['webhook-signature', '`v1,` and a base64 HMAC-SHA256, as Standard Webhooks has it; several stand apart by a space.'],
  ['parley-sequence', 'The number of the event in its call, from 1; absent without a call.'],
].map(([name, description]) => ({ name, in: 'header', description, schema: text }))

/** The events as webhooks of OpenAPI 3.1. */
export function webhooksOf(events: DescribedEvent[], { place }: Components): Record<string, object> {
  return Object.fromEntries(events.map((each) => [each.event, { post: webhookOf(each, place) }]))
}

function webhookOf({ event, when, payload, example }: DescribedEvent, place: Components['place']): object {
  const schema = {
    type: 'object',
    required: ['event', 'tenant_id', 'call_sid', 'voice_session_id', 'created_at', 'payload'],
    properties: {
      event: { const: event },
      tenant_id: text,
      call_sid: { ...text, description: 'Empty without a call.' },
      voice_session_id: { ...text, description: 'Empty without a call.' },
      created_at: { ...text, format: 'date-time' },
      payload: place(payload),
    },
  }
  return {
    operationId: `on${event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: when,
    tags: ['Events'],
    security: [],
    parameters: PARAMETERS,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: { '2XX': { description: 'Taken: it is not sent again.' } },
  }
}
