import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type Source } from './source.ts'

const SOURCES = '{service,simulator,dashboard,client,bench,scripts}/**/*.{ts,tsx,mjs}'
/** What is generated is nobody's to read. */
const GENERATED = ['client/src/public-api.ts', 'dashboard/src/api/api-types.ts']
const NOT_OURS = [...GENERATED, '**/node_modules/**', '**/dist/**', '**/data/**', '**/tmp/**']

/** Reads and parses every source file under the project's folder, in the order of their paths. */
export function readTree(root: string): Source[] {
  const paths = globSync(SOURCES, { cwd: root, exclude: NOT_OURS }).sort()
  return paths.map((path) => parse({ path, text: readFileSync(join(root, path), 'utf8') }))
}
