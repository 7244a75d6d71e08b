import { type Schema, withSubschemas } from './schema.ts'

/** The schemas of a document that stand in one place and are referred to from the others. */
export type Components = {
  /** Those that were referred to so far. */
  schemas: Record<string, Schema>
  /** A copy of the schema in which every schema that has a name is a reference. */
  place(schema: Schema): Schema
}

/**
 * Makes the components of a document.
 *
 * @param named what has a name. Schemas are the same when they say the same: routes that make theirs anew share one.
 */
export function makeComponents(named: Record<string, Schema>): Components {
  const names = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  const schemas: Record<string, Schema> = {}
  const placed = new WeakMap<Schema, Schema>()

  function place(schema: Schema): Schema {
    const known = placed.get(schema)
    if (known) return known
    const result = isObject(schema) ? placeObject(schema) : withSubschemas(schema, place)
    placed.set(schema, result)
    return result
  }

  function placeObject(schema: Schema): Schema {
    const name = names.get(JSON.stringify(schema))
    if (name === undefined) return withSubschemas(schema, place)
    if (!(name in schemas)) {
      schemas[name] = {}
      schemas[name] = withSubschemas(schema, place)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  return { schemas, place }
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' && properties !== undefined
}
