import type { TestProject } from 'vitest/node'
import { makeEmbeddedTemplate, removeTemplate, type Template } from './template.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of all projects that run on the embedded database. */
    embeddedTemplate?: Template
  }
}

/**
 * Runs once before the test files of each project on the embedded database; what it returns runs after them. They have one
 * template: to make one takes the processor as long as some hundred tests.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const root = project.vitest.getRootProject()
  const made = root.getProvidedContext().embeddedTemplate
  const template = made ?? (await makeEmbeddedTemplate())
  root.provide('embeddedTemplate', template)
  project.provide('databaseTemplate', template)
  return made ? undefined : () => removeTemplate(template)
}
