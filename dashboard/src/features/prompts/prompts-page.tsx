import { Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { asFailure } from '../../api/failure.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { DASH } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import {
  deletePrompt,
  listPrompts,
  PROMPTS_KEY,
  type Prompt,
  type PromptTexts,
  putPrompt,
  readPrompt,
} from './prompt-queries.ts'

/** The prompts of the installation. */
export function PromptsPage() {
  const list = useList({ queryKey: PROMPTS_KEY, part: listPrompts })
  return (
    <ListPage
      title="Prompts"
      description="Texts that come before the instructions of agents. A tenant names one as its prompt."
      actions={<PromptForm prompt={null} />}
      list={list}
      columns={COLUMNS}
      keyOf={({ key }) => key}
      empty={
        <EmptyState title="No prompts yet">
          Write what all agents of some tenants are to be told. <span className="mono">{'{{caller}}'}</span> and the
          like are filled in from the call.
        </EmptyState>
      }
    />
  )
}

const COLUMNS: Column<Prompt>[] = [
  { name: 'Key', isWritten: true, cell: ({ key }) => <span className="mono">{key}</span> },
  { name: 'Description', isWritten: true, from: 'tablet', cell: ({ description }) => description || DASH },
  { name: 'Length', from: 'desktop', isNumber: true, cell: ({ text }) => text.length },
  { name: 'Changed', from: 'tablet', cell: ({ updated_at }) => <Instant at={updated_at} /> },
  {
    name: 'Actions',
    isActions: true,
    cell: (prompt) => (
      <RowButtons>
        <PromptForm prompt={prompt} />
        <DeletePrompt prompt={prompt} />
      </RowButtons>
    ),
  },
]

/** What the form holds: the texts, and the tag of what it began with. What others write meanwhile must not be lost. */
type Written = PromptTexts & { over: string | null }

const writtenOf = ({ key, description, text, etag }: Prompt): Written => ({ key, description, text, over: etag })
const NOTHING: Written = { key: '', description: '', text: '', over: null }

function PromptForm({ prompt }: { prompt: Prompt | null }) {
  const client = useQueryClient()
  const readAgain = () => client.invalidateQueries({ queryKey: PROMPTS_KEY })
  return (
    <ModalForm
      label={prompt ? 'Change' : 'New prompt'}
      about={prompt?.key}
      submit="Save the prompt"
      initial={prompt ? writtenOf(prompt) : NOTHING}
      onSubmit={async ({ over, ...texts }) => {
        await putPrompt(texts, over)
        // Whoever changes it once more begins with what has just been saved.
        await readAgain()
      }}
      onClose={() => void readAgain()}
      {...(prompt && { variant: 'default', size: 'xs' as const, newer: newerOf(prompt) })}
    >
      {({ values, set, fault }) => (
        <>
          <TextInput
            label="Key"
            required
            readOnly={prompt !== null}
            value={values.key}
            error={fault('key')}
            onChange={(event) => set({ key: event.currentTarget.value })}
          />
          <TextInput
            label="Description"
            value={values.description}
            error={fault('description')}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Textarea
            label="Text"
            required
            rows={12}
            resize="vertical"
            value={values.text}
            error={fault('text')}
            onChange={(event) => set({ text: event.currentTarget.value })}
          />
        </>
      )}
    </ModalForm>
  )
}

/** Of a new one another key is to be chosen, of one that somebody else has changed one of the two. */
function newerOf({ key }: Prompt) {
  return {
    read: () =>
      readPrompt(key).then(writtenOf, (error: unknown) => {
        if (asFailure(error).status === 404) return { ...NOTHING, key }
        throw error
      }),
    shown: ({ description, text, over }: Written) => (over === null ? { prompt: 'deleted' } : { description, text }),
    over: (mine: Written, { over }: Written): Written => ({ ...mine, over }),
  }
}

function DeletePrompt({ prompt: { key } }: { prompt: Prompt }) {
  const client = useQueryClient()
  async function remove(): Promise<void> {
    await deletePrompt(key)
    await client.invalidateQueries({ queryKey: PROMPTS_KEY })
  }
  return (
    <ConfirmAction label="Delete" about={key} size="xs" isGrave onConfirm={remove}>
      Agents of tenants that name “{key}” are told nothing before their instructions any more.
    </ConfirmAction>
  )
}
