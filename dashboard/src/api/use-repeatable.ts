import { useState } from 'react'
import { makeRepeatable, type Repeatable, type Words } from './repeatable.ts'

/** What must not be done twice, of one form and one tenant for as long as it stands on a page. What is in doubt outlives that, and a reload. */
export function useRepeatable(words: Words): Repeatable {
  const [repeatable] = useState(() => makeRepeatable(words, sessionStorage))
  return repeatable
}
