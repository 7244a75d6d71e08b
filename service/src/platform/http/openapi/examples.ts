import { type Schema, withoutNull } from './schema.ts'

const ID = '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60'

/** What the members of bodies with these names look like. */
const VALUES: Record<string, unknown> = {
  ...{
    id: ID,
    tenant_id: 'acme',
    tenant: 'acme',
    agent_id: ID,
    agent_version_id: ID,
    voice_session_id: ID,
    request_id: ID,
  },
  ...{ call_sid: 'CA5d0c1f7e8b9a4c2f8e6d3b1a09f87c65', stream_sid: 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9' },
  ...{ agent_key: 'reception', agent_name: 'Robin', name: 'Reception', label: 'my application', description: '' },
  ...{ from: '+12025550140', to: '+12025550123', phone: '+12025550123', customer_phone: '+12025550123' },
  ...{ phone_number: '+12025550140', key_prefix: 'pk_a1b2c3d4', stream_token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln' },
  ...{ token: 'pk_a1b2c3d4_…', key: 'house-rules', queue_key: 'default', timezone: 'Europe/Berlin', line: 2 },
  ...{ email: 'grace@acme.example', work_email: 'grace@acme.example', username: 'grace@acme.example' },
  ...{ password: 'a long enough password', operator: 'grace@acme.example', by: 'grace@acme.example' },
  ...{ supervisor: 'grace@acme.example', taken_over_by: 'grace@acme.example' },
  ...{ assigned_to: 'grace@acme.example', acknowledged_by: 'grace@acme.example' },
  ...{ url: 'https://hooks.example.com/parley', website: 'https://acme.example', etag: '"5d41402abc4b2a76b9719d91"' },
  ...{ company_name: 'Acme', contact_name: 'Grace', use_case: 'Taking appointments.', remote_addr: '203.0.113.7' },
  ...{ greeting: 'Hello, this is Acme.', text: 'Hello, this is Acme.', voice: 'marin', model: 'gpt-realtime-2.1' },
  ...{ stream_url: 'wss://voice.example.com/media-stream', start: '09:00', end: '17:00', version: '0.1.0' },
  ...{ cache_key: 'sha256:9f86d081884c', table: 'webhook_outbox', severity: 'warning', escalated: false, failed: 0 },
  ...{
    degraded: false,
    rejected: 0,
    duplicates: 0,
    interrupted: false,
    unheard: '',
    failures: [],
    summary: 'Wants to be called back.',
  },
  ...{ message: 'One sentence that a person can act on.', error: 'The phone number is not possible.', offset: 0 },
}

const FORMATS: Record<string, unknown> = {
  uuid: ID,
  phone: '+12025550123',
  'date-time': '2030-01-01T09:00:00.000Z',
  date: '2030-01-01',
  email: 'grace@acme.example',
}

/** Deeper than anything of ours: an end for what would have none. */
const MAX_DEPTH = 8

/**
 * A value that the schema takes. Of a body that is sent it has what must be there (or one member, when nothing must), of an
 * answer everything; which of the two it is, the schema says by whether it refuses unknown members.
 */
export function exampleOf(schema: Schema, name = '', depth = 0): unknown {
  const { examples, default: usual, anyOf, type } = schema
  const [given] = examples ?? []
  if (given !== undefined) return given
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (usual !== undefined) return usual
  if (anyOf) return exampleOf(anyOf.find((each) => each.type !== 'null') ?? {}, name, depth)
  if (fits(schema, VALUES[name])) return VALUES[name]
  if (depth > MAX_DEPTH) return null
  if (type === 'object') return objectOf(schema, depth)
  if (type === 'array') return schema.items ? [exampleOf(schema.items, singular(name), depth + 1)] : []
  return plainOf(schema, name)
}

function singular(name: string): string {
  return name.replace(/s$/, '')
}

/** Values of names are for those whose type and form they have; a pattern is what only the route knows. */
function fits({ type, format, pattern, enum: values }: Schema, value: unknown): boolean {
  if (value === undefined || values) return false
  if (type === 'string' && typeof value === 'string') {
    if (format !== undefined) return FORMATS[format] === value || format === 'uri'
    return pattern === undefined || new RegExp(pattern, 'u').test(value)
  }
  return type === (Array.isArray(value) ? 'array' : typeof value) || (type === 'integer' && typeof value === 'number')
}

function objectOf(schema: Schema, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const members = Object.entries(properties)
  const isSent = additionalProperties === false
  const needed = isSent ? members.filter(([name]) => required.includes(name)) : members
  const shown = needed.length === 0 ? members.slice(0, 1) : needed
  return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(withoutNull(member), name, depth + 1)]))
}

function plainOf({ type, format, minimum, maximum }: Schema, name: string): unknown {
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return Math.min(Math.max(1, minimum ?? 1), maximum ?? 1)
  if (type === 'string') return FORMATS[format ?? ''] ?? name.replaceAll('_', ' ')
  return type === 'null' ? null : {}
}
