import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether this process may run the file of that path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The folders that PATH names, in its order. */
export function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
}

/** The first program of one of these names in PATH, or else in `/usr/bin`. */
export function findExecutable(names: readonly string[]): string | undefined {
  const folders = [...pathFolders(), '/usr/bin']
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}
