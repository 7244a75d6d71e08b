import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { asFailure } from '../../api/failure.ts'
import { useMay } from '../../api/session.ts'
import { DocumentJson } from '../../components/document-fields.tsx'
import { EditedDocument, type JsonObject, useDocument } from '../../components/document-state.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column } from '../../components/fields.tsx'
import { NewerDocument } from '../../components/newer-document.tsx'
import { Panel } from '../../components/panel.tsx'
import { savedText } from '../../components/saved-text.ts'
import { useFocusAfterChoice } from '../../components/use-focus-after-choice.ts'
import { TenantCheck } from './tenant-check.tsx'
import { TenantFields } from './tenant-fields.tsx'
import { putTenant, TENANTS_KEY, type Tenant, tenantQuery } from './tenant-queries.ts'

/** What is saved, as it was then, over the document with a tag. */
type Sent = { text: string; value: JsonObject; over: string }

/** The document of a tenant, in fields and as JSON. */
export function TenantForm({ tenant }: { tenant: Tenant }) {
  const { tenant_id: tenantId } = tenant
  const document = useDocument(tenant.config)
  // Of what the form began with: what others write meanwhile must not be lost.
  const [etag, setEtag] = useState(tenant.etag)
  const [newer, setNewer] = useState<Tenant | null>(null)
  const client = useQueryClient()
  const mayChange = useMay('admin')
  const stored = () => client.query({ ...tenantQuery(tenantId), staleTime: 0 })

  const save = useMutation({
    mutationFn: ({ value, over }: Sent) => putTenant(tenantId, value, over),
    onSuccess: async (written, { text }) => {
      setEtag(written.etag)
      setNewer(null)
      document.noteSaved(text, (await stored()).config)
      await client.invalidateQueries({ queryKey: TENANTS_KEY })
    },
    onError: async (failure) => {
      if (asFailure(failure).status === 412) setNewer(await stored())
    },
  })

  function send(over: string): void {
    if (document.value !== null) save.mutate({ text: document.text, value: document.value, over })
  }

  function take(written: Tenant): void {
    document.reset(written.config)
    setEtag(written.etag)
    setNewer(null)
  }

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    send(etag)
  }

  const place = useFocusAfterChoice({ isAsked: newer !== null, isBusy: save.isPending })
  const isStale = newer !== null && save.error !== null && asFailure(save.error).status === 412
  const failure = save.error && !isStale && <FailureState error={save.error} />
  const editing = { document, error: save.error, base: '/body', isReadOnly: !mayChange }
  return (
    <EditedDocument value={editing}>
      <form onSubmit={submit}>
        <Column>
          <TenantFields />
          <Panel title="Everything, as JSON" aside="Secrets read back as ***; leave that to keep them">
            <DocumentJson label="Document" />
          </Panel>
          {!newer && failure}
          {newer && (
            <NewerDocument
              stored={newer.config}
              mine={document.value}
              failure={failure}
              isSaving={save.isPending}
              onKeep={() => send(newer.etag)}
              onTake={() => {
                take(newer)
                save.reset()
              }}
            />
          )}
          {mayChange && !newer && (
            <div ref={place} tabIndex={-1}>
              <Buttons>
                <Button
                  type="submit"
                  loading={save.isPending}
                  disabled={!document.isChanged || document.value === null}
                >
                  Save the settings
                </Button>
                <TenantCheck document={document.value} />
                <output>{save.isSuccess && !document.isChanged && savedText(save.data)}</output>
              </Buttons>
            </div>
          )}
        </Column>
      </form>
    </EditedDocument>
  )
}
