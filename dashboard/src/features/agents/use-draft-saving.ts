import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asFailure } from '../../api/failure.ts'
import { useMay } from '../../api/session.ts'
import type { DocumentState, JsonObject } from '../../components/document-state.ts'
import { changeVersion, type Version, versionIn, versionsQuery } from './agent-queries.ts'

/** What is saved, as it was then, over the config with a tag. */
type Sent = { text: string; value: JsonObject; over: string }

/**
 * Saves a draft over what the form began with: what others write meanwhile must not be lost. What stands in the form is what is published
 * and drafted from, and never what nobody has seen there.
 */
export function useDraftSaving(version: Version, document: DocumentState) {
  const mayChange = useMay('admin') && version.status === 'draft'
  const [etag, setEtag] = useState(version.etag)
  const [newer, setNewer] = useState<Version | null>(null)
  const client = useQueryClient()
  const query = versionsQuery(version.tenant_id, version.agent_id)
  const readNewer = async () => setNewer(versionIn(await client.query({ ...query, staleTime: 0 }), version.id))
  const save = useMutation({
    mutationFn: ({ value, over }: Sent) => changeVersion(version, value, over),
    onSuccess: async ({ version: written }, { text }) => {
      setEtag(written.etag)
      setNewer(null)
      document.noteSaved(text, written.config)
      // Until it is read again, and where it cannot be: what is stored now is ours.
      client.setQueryData(query.queryKey, (known) => known?.map((each) => (each.id === written.id ? written : each)))
      await client.invalidateQueries({ queryKey: query.queryKey })
    },
    onError: async (failure) => {
      const { status } = asFailure(failure)
      if (status === 412) await readNewer()
      // It is no draft any more: then that is what is to be seen.
      if (status === 409) await client.invalidateQueries({ queryKey: query.queryKey })
    },
  })

  function send(over = etag): void {
    if (document.value !== null) save.mutate({ text: document.text, value: document.value, over })
  }

  function take(written: Version): void {
    document.reset(written.config)
    setEtag(written.etag)
    setNewer(null)
    save.reset()
  }

  const isStale = newer !== null && save.error !== null && asFailure(save.error).status === 412
  return {
    ...{ mayChange, save, newer, send, take, readNewer, failure: isStale ? null : save.error },
    /** Of what is seen: what cannot be changed is shown as it is stored. */
    etag: mayChange ? etag : version.etag,
    /** Somebody else has written meanwhile what is not seen here. */
    isBehind: mayChange && version.etag !== etag,
    compare: () => setNewer(version),
  }
}

/** How a draft is saved, and whether somebody else has done so meanwhile. */
export type DraftSaving = ReturnType<typeof useDraftSaving>
