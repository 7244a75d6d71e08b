import * as admin from './admin-ops.ts'
import * as agents from './agent-ops.ts'
import type { Asking } from './asking.ts'
import * as campaigns from './campaign-ops.ts'
import type { Op } from './model.ts'
import * as numbers from './number-lists.ts'
import * as prompts from './prompt-ops.ts'
import * as queues from './queue-ops.ts'
import * as records from './record-ops.ts'
import * as rollouts from './rollout-ops.ts'
import * as moves from './task-moves.ts'
import * as tasks from './task-ops.ts'

type Make = (asking: Asking) => Op

/** What may be asked for, each as often as it stands here. */
export const OPERATIONS: readonly Make[] = [
  ...[tasks.createTask, tasks.createTask, tasks.editTask, moves.moveTask, moves.moveTask, moves.moveTask],
  ...[moves.claimNext, numbers.listNumber, numbers.unlistNumber, numbers.importNumbers, queues.putQueue],
  ...[queues.deleteQueue, agents.createAgent, agents.changeAgent, agents.draftVersion, agents.draftVersion],
  ...[agents.changeVersion, agents.publishVersion, agents.publishVersion, rollouts.putRollout, rollouts.putRollout],
  ...[rollouts.putPolicy, prompts.putPrompt, prompts.putPrompt, prompts.deletePrompt],
  ...[admin.createRoute, admin.replaceRoute, admin.deleteRoute, admin.createKey, admin.revokeKey],
  ...[admin.createUser, admin.changeUser, admin.deleteUser, admin.putTenant, admin.deleteTenant],
  ...[campaigns.createCampaign, campaigns.moveCampaign, campaigns.moveCampaign],
  ...[records.scoreSession, records.scoreSession, records.eraseSession, records.eraseNumber],
]
