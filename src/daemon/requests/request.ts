import { z } from 'zod';
import type { Caller } from '../../model/caller.ts';
import type { Result } from '../../model/result.ts';
import type { Doors } from './doors.ts';

/** Why a request gets no document. */
export type RequestFailure =
  /** No such request, or it is not as it should be. */
  | 'bad-request'
  /** Not for whoever asks. */
  | 'not-allowed'
  | 'no-agent'
  /** What it is about is not there, or not open. */
  | 'not-found'
  /** It cannot be done, whoever asks. */
  | 'impossible'
  /** It holds, but is not stored. */
  | 'no-database'
  /** A bug, on record in the log. */
  | 'failed';

/**
 * One thing that may be asked of the daemon, by whatever way in. What `answer` gives is the document that others script
 * against: socket, CLI and every later way in hand it on as it is.
 */
interface RequestDefinition<Name extends string, Shape extends z.ZodRawShape, Document> {
  name: Name;
  /** `people`: not for agents that we watch. They would widen what may be done to them, or quiet what is told about them. */
  who: 'anyone' | 'people';
  input: Shape;
  answer: (
    input: z.output<z.ZodObject<Shape>>,
    doors: Doors,
    by: Caller,
  ) => RequestAnswer<Document> | Promise<RequestAnswer<Document>>;
}

export type RequestAnswer<Document> = Result<Document, RequestFailure>;

/** What every definition is to those that only hand requests on. */
export interface AnyRequest {
  name: string;
  who: 'anyone' | 'people';
  input: z.ZodRawShape;
  answer: (input: never, doors: Doors, by: Caller) => RequestAnswer<unknown> | Promise<RequestAnswer<unknown>>;
}

export function defineRequest<const Name extends string, Shape extends z.ZodRawShape, Document>(
  definition: RequestDefinition<Name, Shape, Document>,
): RequestDefinition<Name, Shape, Document> {
  return definition;
}

/** The answer is no document but a line for every event, until whoever asked hangs up. */
export const followsEvents = Symbol('follows events');

const name = z.string().min(1).max(1_000);

export const idField = name.describe('an id');

/** Of the row of a person's word: whoever gets no answer leaves the word in a file under the same id. */
export const wordIdField = z.uuid().optional();

/** `name`, or `host/name`. Before a request is answered it is looked up, and the plain name stands here. */
export const agentField = name.describe('an agent');
