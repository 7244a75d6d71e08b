import type { TestProject } from 'vitest/node'
import { makeEmbeddedTemplate, removeTemplate } from './template.ts'

/** Runs once before the test files of the project `embedded`; what it returns runs after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const template = await makeEmbeddedTemplate()
  project.provide('databaseTemplate', template)
  return () => removeTemplate(template)
}
