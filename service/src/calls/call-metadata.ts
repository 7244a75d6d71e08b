import { Type } from 'typebox'

/** What a tenant says of a call, in members of its own: of those the dial gate knows `consent`. */
export const CallMetadata = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    maxProperties: 100,
    description,
  })
