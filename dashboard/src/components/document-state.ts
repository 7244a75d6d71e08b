import { createContext, useContext, useState } from 'react'
import { useUnsaved } from './unsaved-changes.tsx'

/** A JSON object. */
export type JsonObject = Record<string, unknown>

/** A document while somebody edits it, in fields and as JSON: both show the same. */
export type DocumentState = {
  text: string
  setText: (text: string) => void
  /** Null: the text is no JSON object. */
  value: JsonObject | null
  /** What is wrong with the text; null when it is a JSON object. */
  textFault: string | null
  /** Sets a member; undefined takes it away, and what is empty then. */
  set: (path: string[], value: unknown) => void
  /** Begins again with another document. */
  reset: (value: object) => void
  /** Notes what was stored of the text that was sent: what was typed meanwhile stays. */
  noteSaved: (sent: string, stored: object) => void
  /** Whether it differs from the one that it began with. */
  isChanged: boolean
}

/** Holds a document that is edited, and has the page ask before it is left with a change. */
export function useDocument(initial: object): DocumentState {
  const [base, setBase] = useState(() => JSON.stringify(initial, null, 2))
  const [text, setText] = useState(base)
  const { value, textFault } = parsed(text)
  const isChanged = text !== base
  useUnsaved(isChanged)
  return {
    text,
    setText,
    value,
    textFault,
    isChanged,
    set(path, member) {
      if (value) setText(JSON.stringify(withMember(value, path, member), null, 2))
    },
    reset(next) {
      const fresh = JSON.stringify(next, null, 2)
      setBase(fresh)
      setText(fresh)
    },
    noteSaved(sent, stored) {
      const fresh = JSON.stringify(stored, null, 2)
      setBase(fresh)
      setText((now) => (now === sent ? fresh : now))
    },
  }
}

/** A document as it is stored, to be read alone. */
export function storedDocument(stored: object): DocumentState {
  const text = JSON.stringify(stored, null, 2)
  const nothing = () => {}
  return { text, ...parsed(text), isChanged: false, setText: nothing, set: nothing, reset: nothing, noteSaved: nothing }
}

function parsed(text: string): Pick<DocumentState, 'value' | 'textFault'> {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject
      ? { value: value as JsonObject, textFault: null }
      : { value: null, textFault: 'It has to be a JSON object.' }
  } catch (error) {
    return { value: null, textFault: error instanceof Error ? error.message : String(error) }
  }
}

function withMember(object: JsonObject, [name = '', ...rest]: string[], value: unknown): JsonObject {
  const held = object[name]
  const inner = typeof held === 'object' && held !== null && !Array.isArray(held) ? (held as JsonObject) : {}
  const member = rest.length === 0 ? value : withMember(inner, rest, value)
  const isEmpty = rest.length > 0 && Object.keys(member as object).length === 0
  if (member !== undefined && !isEmpty) return { ...object, [name]: member }
  const { [name]: _gone, ...others } = object
  return others
}

/** The member of a document at a path; undefined when there is none. */
export function memberAt(object: JsonObject | null, path: string[]): unknown {
  let at: unknown = object
  for (const name of path) at = typeof at === 'object' && at !== null ? (at as JsonObject)[name] : undefined
  return at
}

type Editing = {
  document: DocumentState
  /** What the service said of it. */
  error: unknown
  /** Where the document stands in what is sent, such as `/body/config`. */
  base: string
  isReadOnly: boolean
}

/** Which document the fields below belong to. */
export const EditedDocument = createContext<Editing | null>(null)

/** The document that the fields around edit. @throws Error outside of one: a fault of ours. */
export function useEditing(): Editing {
  const editing = useContext(EditedDocument)
  if (editing === null) throw new Error('this field is of no document')
  return editing
}
