/** The test that shows that a row is so: a file of the project, and the name under which the test runs there. */
export type Proof = { file: string; test: string }

/** A part of the interface. */
export type Section = { title: string; rows: Row[] }

/** What the interface promises: an endpoint, the fields of a resource, or a rule. */
export type Row = EndpointRow | FieldsRow | RuleRow

/** `name` is the route as the router has it: `GET /api/v1/call-logs/:call_sid`. */
export type EndpointRow = {
  kind: 'endpoint'
  name: string
  /** Null while it is not there. */
  operationId: string | null
  /** Members of the answer to a success. */
  answers: string[]
  /** Statuses of refusals and failures. */
  errors: number[]
  proof: Proof | null
}

/** A resource, and the fields under which an answer shows it. */
export type FieldsRow = {
  kind: 'fields'
  name: string
  fields: string[]
  /** The operation whose answer shows it, and the members that lead to it there: `call_logs`. */
  operationId: string | null
  path: string[]
  proof: Proof | null
}

/** Anything else; `document` is the page of `docs/` that says more, or the description of the API. */
export type RuleRow = { kind: 'rule'; name: string; document: string; proof: Proof | null }

type Promises = { answers?: string; errors?: number[] }

/** @param file below `service/`, without its ending: `src/calls/incoming-routes.db`. */
export function by(file: string, test: string): Proof {
  return { file: `service/${file}.test.ts`, test }
}

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '')

/** An endpoint that is there. */
export function endpoint(
  name: string,
  operationId: string,
  proof: Proof,
  { answers = '', errors = [] }: Promises = {},
): EndpointRow {
  return { kind: 'endpoint', name, operationId, answers: words(answers), errors, proof }
}

/** An endpoint that is promised. */
export function openEndpoint(name: string): EndpointRow {
  return { kind: 'endpoint', name, operationId: null, answers: [], errors: [], proof: null }
}

/** A resource that an answer shows. @param shown the operation, then the members: `listAgents agents`. */
export function fields(name: string, names: string, shown: string, proof: Proof): FieldsRow {
  const [operationId = '', ...path] = words(shown)
  return { kind: 'fields', name, fields: words(names), operationId, path, proof }
}

/** A rule, and the page that tells it. */
export function rule(name: string, document: string, proof: Proof): RuleRow {
  return { kind: 'rule', name, document, proof }
}
