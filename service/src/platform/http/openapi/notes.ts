import type { HeaderName } from './headers.ts'
import type { Schema } from './schema.ts'

/** A parameter that a route reads by itself, so that its schema does not have it. */
export type NotedParameter = { name: string; in: 'query' | 'header'; required?: boolean; schema: Schema }

/** A body that is no JSON. */
export type NotedBody = { type: string; schema: Schema; example: unknown }

/** A message of a WebSocket: text frames of JSON. */
export type SocketMessage = { name: string; description: string; example: unknown }

/** What goes over a WebSocket once it is open. */
export type SocketNote = {
  description: string
  /** What the server takes, and what it sends. */
  receives: SocketMessage[]
  sends: SocketMessage[]
  closes: { code: number; reason: string }[]
}

/** What cannot be read from a route's schema, for its description. */
export type Note = {
  /** Stands behind the route's own description. */
  description?: string
  parameters?: NotedParameter[]
  /** The body of a route that takes another one than JSON. */
  body?: NotedBody
  /** What a route takes in place of its JSON. */
  orBody?: NotedBody
  /** A body of JSON in place of one that is made of the schema. */
  example?: unknown
  /** The content type of the answer, when it is no JSON. */
  answerType?: string
  /** What a success has beside the usual headers. */
  headers?: HeaderName[]
  /** Refusals of the route's list that it never gives. */
  without?: number[]
  socket?: SocketNote
}

/** By operationId. */
export type Notes = Record<string, Note>
