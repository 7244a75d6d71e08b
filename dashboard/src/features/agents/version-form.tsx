import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useMay } from '../../api/session.ts'
import { DocumentJson, DocumentText } from '../../components/document-fields.tsx'
import { EditedDocument, useDocument } from '../../components/document-state.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column, Fields } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { changeVersion, type Version, versionsQuery } from './agent-queries.ts'

/** What a version says, in fields and as JSON. Only a draft can be changed. */
export function VersionForm({ version }: { version: Version }) {
  const document = useDocument(version.config)
  const client = useQueryClient()
  const mayChange = useMay('admin') && version.status === 'draft'
  const save = useMutation({
    mutationFn: () => changeVersion(version, document.value ?? {}),
    onSuccess: async (written) => {
      document.reset(written.config)
      const { queryKey } = versionsQuery(version.tenant_id, version.agent_id)
      await client.invalidateQueries({ queryKey })
    },
  })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    save.mutate()
  }

  const editing = { document, error: save.error, base: '/body/config', isReadOnly: !mayChange }
  return (
    <EditedDocument value={editing}>
      <form onSubmit={submit}>
        <Panel title="What it says" aside={!mayChange && version.status !== 'draft' && 'Only a draft can be changed'}>
          <Column>
            <DocumentText
              path={['greeting']}
              label="Greeting"
              description="What a caller hears first. Empty: the agent words it."
              rows={2}
            />
            <DocumentText path={['instructions']} label="Instructions" description="What to do, and how." rows={10} />
            <DocumentText path={['assistant_profile']} label="Profile" description="Who the agent is." rows={3} />
            <Fields>
              <DocumentText path={['agent_name']} label="What it calls itself" />
              <DocumentText path={['voice']} label="Voice" />
              <DocumentText path={['realtime_model']} label="Model that talks" />
              <DocumentText path={['chat_model']} label="Model for text" />
            </Fields>
            <DocumentJson
              label="Everything, as JSON"
              description="The fields above, and turn detection, interruption, tools and the others."
            />
            {save.error && <FailureState error={save.error} />}
            {mayChange && (
              <Buttons>
                <Button
                  type="submit"
                  loading={save.isPending}
                  disabled={!document.isChanged || document.value === null}
                >
                  Save the draft
                </Button>
                <output>{save.isSuccess && !document.isChanged && 'Saved'}</output>
              </Buttons>
            )}
          </Column>
        </Panel>
      </form>
    </EditedDocument>
  )
}
