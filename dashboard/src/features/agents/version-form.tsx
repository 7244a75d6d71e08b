import { Button } from '@mantine/core'
import type { SubmitEvent } from 'react'
import { DocumentChoice, DocumentJson, DocumentText } from '../../components/document-fields.tsx'
import { type DocumentState, EditedDocument, storedDocument } from '../../components/document-state.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column, Fields } from '../../components/fields.tsx'
import { NewerDocument } from '../../components/newer-document.tsx'
import { Panel } from '../../components/panel.tsx'
import { savedText } from '../../components/saved-text.ts'
import { useFocusAfterChoice } from '../../components/use-focus-after-choice.ts'
import type { Version } from './agent-queries.ts'
import type { DraftSaving } from './use-draft-saving.ts'
import { NewDraft } from './version-actions.tsx'

const EFFORTS = [
  { value: '', label: 'As it does by itself (default)' },
  { value: 'minimal', label: 'Minimal' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
  { value: 'xhigh', label: 'Extra high' },
]

type VersionProps = { version: Version; document: DocumentState }

/** What a version says, in fields and as JSON. Only a draft can be changed. */
export function VersionForm({ version, document, saving }: VersionProps & { saving: DraftSaving }) {
  const { mayChange, save, newer, send, take, failure } = saving
  const place = useFocusAfterChoice({ isAsked: newer !== null, isBusy: save.isPending })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    send()
  }

  // What nobody can change any more is shown as it is, and not as somebody would have had it.
  const shown = mayChange ? document : storedDocument(version.config)
  const editing = { document: shown, error: save.error, base: '/body/config', isReadOnly: !mayChange }
  return (
    <EditedDocument value={editing}>
      {!mayChange && document.isChanged && <Unsaved version={version} document={document} />}
      <form onSubmit={submit}>
        <Panel title="What it says" aside={!mayChange && unchangeable(version)}>
          <Column>
            <VersionFields />
            {!(mayChange && newer) && failure && <FailureState error={failure} />}
            {mayChange && !newer && (
              <div ref={place} tabIndex={-1}>
                <Buttons>
                  <Button
                    type="submit"
                    loading={save.isPending}
                    disabled={!document.isChanged || document.value === null}
                  >
                    Save the draft
                  </Button>
                  {saving.isBehind && !document.isChanged && !save.isPending && (
                    <Button variant="default" onClick={saving.compare}>
                      See what somebody else has changed
                    </Button>
                  )}
                  <output>{save.isSuccess && !document.isChanged && !saving.isBehind && savedText(save.data)}</output>
                </Buttons>
              </div>
            )}
          </Column>
        </Panel>
        {mayChange && newer && (
          <NewerDocument
            stored={newer.config}
            mine={document.value}
            failure={failure && <FailureState error={failure} />}
            isSaving={save.isPending}
            onKeep={() => send(newer.etag)}
            onTake={() => take(newer)}
          />
        )}
      </form>
    </EditedDocument>
  )
}

function unchangeable({ status }: Version): string {
  return status === 'draft' ? 'Administrators can change it' : 'Only a draft can be changed'
}

function VersionFields() {
  return (
    <>
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
        <DocumentChoice path={['reasoning_effort']} label="Reasoning effort" choices={EFFORTS} />
      </Fields>
      <DocumentJson
        label="Everything, as JSON"
        description="The fields above, and turn detection, interruption, tools and the others."
      />
    </>
  )
}

/** What somebody typed until the version could not be changed any more: somebody else has published it. */
function Unsaved({ version, document }: VersionProps) {
  const forget = () => document.reset(version.config)
  const typed = document.value && { version_number: version.version_number, config: document.value }
  return (
    <Panel title="What you have typed is not in it" aside="The version was published meanwhile, without it">
      <Column>
        <EditedDocument value={{ document, error: null, base: '', isReadOnly: true }}>
          <DocumentJson label="What you have typed" />
        </EditedDocument>
        <Buttons>
          {typed && (
            <NewDraft
              tenantId={version.tenant_id}
              agentId={version.agent_id}
              from={typed}
              label="New draft of it"
              onMade={forget}
            />
          )}
          <Button variant="default" size="sm" onClick={forget}>
            Drop it
          </Button>
        </Buttons>
      </Column>
    </Panel>
  )
}
