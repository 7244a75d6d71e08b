import type { Node } from 'oxc-parser'
import { workspaceOf } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

function reexports(node: Node): boolean {
  if (node.type === 'ExportAllDeclaration') return true
  return node.type === 'ExportNamedDeclaration' && node.declaration === null
}

/** Only imports and re-exports, at least one of them: a file that has nothing of its own to say. */
function isBarrel({ program }: Source): boolean {
  const { body } = program
  return body.some(reexports) && body.every((node) => reexports(node) || node.type === 'ImportDeclaration')
}

function defaultExports(source: Source): Node[] {
  return source.program.body.filter(
    (node) =>
      node.type === 'ExportDefaultDeclaration' ||
      (node.type === 'ExportNamedDeclaration' &&
        node.specifiers.some(({ exported }) => exported.type === 'Identifier' && exported.name === 'default')),
  )
}

/** No file that only passes others on, and no export without a name: a reader finds a thing by searching its name. */
export function shape(source: Source): Violation[] {
  // A tool's configuration is what the tool looks for.
  if (workspaceOf(source.path) === 'scripts' || source.path.endsWith('.config.ts')) return []
  const barrel = isBarrel(source)
    ? [violation(source, source.program, 'barrel', 'this file only re-exports; import from where things are')]
    : []
  const nameless = defaultExports(source).map((node) => violation(source, node, 'default-export', 'export it by name'))
  return [...barrel, ...nameless]
}
