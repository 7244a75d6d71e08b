/** A JSON Schema, as far as the descriptions of the API look into it. */
export type Schema = {
  $ref?: string
  type?: string
  description?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  minItems?: number
  maxProperties?: number
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** The same schema with `change` made to each schema that stands directly in it. */
export function withSubschemas(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const { properties, patternProperties, additionalProperties, items, anyOf, oneOf, allOf } = schema
  return {
    ...schema,
    ...(properties && { properties: mapMembers(properties, change) }),
    ...(patternProperties && { patternProperties: mapMembers(patternProperties, change) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: change(additionalProperties) }),
    ...(items && { items: change(items) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
    ...(oneOf && { oneOf: oneOf.map(change) }),
    ...(allOf && { allOf: allOf.map(change) }),
  }
}

function mapMembers(members: Record<string, Schema>, change: (schema: Schema) => Schema): Record<string, Schema> {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, change(schema)]))
}

/** The schema of a value that may be null too, without the null. */
export function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  const [only] = others
  return only && others.length === 1 ? only : schema
}
