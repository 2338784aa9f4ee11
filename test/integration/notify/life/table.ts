/**
 * Who is told what, step by step, in the lives of a few requests. Owns: the table. Does not own: how a step is played (life.test.ts).
 *
 * A line is `audience: who, channel, when: title`. Ids and dates are left out.
 */

export type Happening =
  | "Rita submits it"
  | "Cora approves the commercial review"
  | "Cora endorses it: Vera has to approve"
  | "Vera approves the commercial review"
  | "Tess approves the technical review"
  | "Tess rejects the technical review"
  | "Rita nudges"
  | "a day and an hour pass"
  | "two days are left for an answer"
  | "the customer's bank fails them"
  | "the customer pays"
  | "the mail to the customer bounces, and a minute passes"
  | "the time for an answer is over"
  | "provisioning completes"
  | "provisioning fails";

export interface Step {
  readonly happens: Happening;
  readonly told: readonly string[];
}

export interface Life {
  readonly title: string;
  readonly about: string;
  /** There is a channel in Slack; else everybody is told by mail. */
  readonly slack: boolean;
  /** The infra group has a channel of its own: another one than the thread's, or the same. */
  readonly groupChannel?: string;
  /** Above what Cora may approve. */
  readonly large?: boolean;
  readonly steps: readonly Step[];
}

export const lives: readonly Life[] = [
  {
    title: "From the submission to running capacity",
    about:
      "The request has a thread in Slack. Tim is not in Slack, so what the thread says does not reach him; everybody else whom it mentions is told in the inbox alone.",
    slack: true,
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: 4 × 32XL in us-east-1 (under review). Rita asks for 4 × 32XL in us-east-1.",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Cora approves the commercial review",
        told: [
          "thread: nobody mentioned, slack, at once: Cora approved the commercial review. The technical review is still open.",
          "requester: Rita, in-app, at once: Cora approved the commercial review. The technical review is still open.",
        ],
      },
      {
        happens: "Tess approves the technical review",
        told: [
          "thread: Cora mentioned, slack, at once: Tess approved the technical review. The customer has until … to pay USD 1,200.00 a month.",
          "requester: Rita, in-app, at once: Tess approved the technical review. The customer has until … to pay USD 1,200.00 a month.",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "customer: the customer, email, at once: Please review and pay: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "two days are left for an answer",
        told: [
          "thread: Cora mentioned, slack, at once: The customer has until … to answer; after that the request expires.",
          "customer: the customer, email, at once: Reminder: please answer: 4 × 32XL in us-east-1",
          "asked: Cora, in-app, at once: The customer has until … to answer; after that the request expires.",
        ],
      },
      {
        happens: "the customer pays",
        told: [
          "thread: Rita mentioned, slack, at once: The customer paid USD 1,200.00. Provisioning begins.",
          "thread: Otto, Rita mentioned, slack, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
          "requester: Rita, in-app, at once: The customer paid USD 1,200.00. Provisioning begins.",
          "customer: the customer, email, at once: Being provisioned: 4 × 32XL in us-east-1",
          "operators: Otto, in-app, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
          "operators: Rita, in-app, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
        ],
      },
      {
        happens: "provisioning completes",
        told: [
          "thread: Rita mentioned, slack, at once: Provisioning is complete.",
          "requester: Rita, in-app, at once: Provisioning is complete.",
          "customer: the customer, email, within seconds: 4 × 32XL in us-east-1: completed",
        ],
      },
    ],
  },
  {
    title: "One that fails",
    about: "As before, until it cannot be provisioned. Operators are told at once, whatever they chose.",
    slack: true,
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: 4 × 32XL in us-east-1 (under review). Rita asks for 4 × 32XL in us-east-1.",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Tess approves the technical review",
        told: [
          "thread: nobody mentioned, slack, at once: Tess approved the technical review. The commercial review is still open.",
          "requester: Rita, in-app, at once: Tess approved the technical review. The commercial review is still open.",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Cora approves the commercial review",
        told: [
          "thread: Cora mentioned, slack, at once: Cora approved the commercial review. The customer has until … to pay USD 1,200.00 a month.",
          "requester: Rita, in-app, at once: Cora approved the commercial review. The customer has until … to pay USD 1,200.00 a month.",
          "customer: the customer, email, at once: Please review and pay: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "the customer's bank fails them",
        told: [
          "thread: Otto, Rita mentioned, slack, at once: The customer's payment failed, and nothing was charged. They can pay again with the same link.",
          "customer: the customer, email, at once: Your payment failed: 4 × 32XL in us-east-1",
          "operators: Otto, in-app, at once: The customer's payment failed, and nothing was charged. They can pay again with the same link.",
          "operators: Rita, in-app, at once: The customer's payment failed, and nothing was charged. They can pay again with the same link.",
        ],
      },
      {
        happens: "the customer pays",
        told: [
          "thread: Rita mentioned, slack, at once: The customer paid USD 1,200.00. Provisioning begins.",
          "thread: Otto, Rita mentioned, slack, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
          "requester: Rita, in-app, at once: The customer paid USD 1,200.00. Provisioning begins.",
          "customer: the customer, email, at once: Being provisioned: 4 × 32XL in us-east-1",
          "operators: Otto, in-app, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
          "operators: Rita, in-app, at once: No workflow is connected yet that could provide the capacity: an operator connects one (headroom jobs connect), or records the outcome (headroom jobs complete).",
        ],
      },
      {
        happens: "provisioning fails",
        told: [
          "thread: Rita mentioned, slack, at once: Provisioning failed.",
          "requester: Rita, in-app, at once: Provisioning failed.",
          "customer: the customer, email, within seconds: 4 × 32XL in us-east-1: failed",
          "operators: Otto, in-app, at once: Provisioning failed.",
          "operators: Otto, slack, at once: Provisioning failed.",
        ],
      },
    ],
  },
  {
    title: "Without Slack, nudged, reminded and rejected",
    about:
      "Nobody can be mentioned, so that those who are asked get mail as well. Rob is in the group too, and has no address.",
    slack: false,
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "asked: Cora, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, email, not sent (no_address): Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Rita nudges",
        told: [
          "asked: Cora, email, within seconds: Rita asks for a decision.",
          "asked: Cora, in-app, at once: Rita asks for a decision.",
          "asked: Rob, email, not sent (no_address): Rita asks for a decision.",
          "asked: Rob, in-app, at once: Rita asks for a decision.",
          "asked: Tess, email, within seconds: Rita asks for a decision.",
          "asked: Tess, in-app, at once: Rita asks for a decision.",
          "asked: Tim, email, within seconds: Rita asks for a decision.",
          "asked: Tim, in-app, at once: Rita asks for a decision.",
        ],
      },
      {
        happens: "a day and an hour pass",
        told: [
          "reminded: Cora, email, within seconds: A review is waiting for you",
          "reminded: Cora, in-app, at once: A review is waiting for you",
          "reminded: Rob, email, not sent (no_address): A review is waiting for you",
          "reminded: Rob, in-app, at once: A review is waiting for you",
          "reminded: Tess, email, within seconds: A review is waiting for you",
          "reminded: Tess, in-app, at once: A review is waiting for you",
          "reminded: Tim, email, within seconds: A review is waiting for you",
          "reminded: Tim, in-app, at once: A review is waiting for you",
        ],
      },
      {
        happens: "Tess rejects the technical review",
        told: [
          "requester: Rita, in-app, at once: Tess rejected the request in the technical review.",
          "no longer asked: Cora, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Cora, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Rob, email, not sent (no_address): No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
        ],
      },
    ],
  },
  {
    title: "Escalated, and a customer who is not reached",
    about: "A large one needs Vera. The customer's mail comes back, so Cora is told that they have not been asked.",
    slack: true,
    large: true,
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: 4 × 32XL in us-east-1 (under review). Rita asks for 4 × 32XL in us-east-1.",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Cora endorses it: Vera has to approve",
        told: [
          "thread: Vera mentioned, slack, at once: Cora endorsed the request; the approval of a higher authority is needed.",
          "requester: Rita, in-app, at once: Cora endorsed the request; the approval of a higher authority is needed.",
          "asked: Vera, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Tess approves the technical review",
        told: [
          "thread: nobody mentioned, slack, at once: Tess approved the technical review. The commercial review is still open.",
          "requester: Rita, in-app, at once: Tess approved the technical review. The commercial review is still open.",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Vera approves the commercial review",
        told: [
          "thread: Cora mentioned, slack, at once: Vera approved the commercial review. The customer has until … to confirm.",
          "requester: Rita, in-app, at once: Vera approved the commercial review. The customer has until … to confirm.",
          "customer: the customer, email, at once: Please confirm: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "the mail to the customer bounces, and a minute passes",
        told: [
          "thread: Cora mentioned, slack, at once: The customer has not been asked: the mail with their link was not delivered. Without an answer the request expires on …. Mail it again with /capacity link …, or to another address with /capacity address … name@example.com, or record their answer as the commercial owner.",
          "fixers: Cora, in-app, at once: The customer has not been asked: the mail with their link was not delivered. Without an answer the request expires on …. Mail it again with /capacity link …, or to …",
        ],
      },
      {
        happens: "the time for an answer is over",
        told: [
          "thread: Rita mentioned, slack, at once: The customer was never asked: the mail with their link was not delivered. The request has expired.",
          "requester: Rita, in-app, at once: The customer was never asked: the mail with their link was not delivered. The request has expired.",
          "customer: the customer, email, at once: 4 × 32XL in us-east-1: expired",
        ],
      },
    ],
  },
  {
    title: "A group with a channel of its own",
    about:
      "The infra group is told in its channel, which is not the thread's: its members find it in the inbox, and get no message each. Tim, who is not in Slack, gets no mail either.",
    slack: true,
    groupChannel: "C0INFRA",
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: 4 × 32XL in us-east-1 (under review). Rita asks for 4 × 32XL in us-east-1.",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "group: Infra, slack, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Rita nudges",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: Rita asks for a decision.",
          "asked: Cora, in-app, at once: Rita asks for a decision.",
          "asked: Rob, in-app, at once: Rita asks for a decision.",
          "asked: Tess, in-app, at once: Rita asks for a decision.",
          "asked: Tim, in-app, at once: Rita asks for a decision.",
          "group: Infra, slack, within seconds: Rita asks for a decision.",
        ],
      },
      {
        happens: "a day and an hour pass",
        told: [
          "thread: Cora mentioned, slack, at once: The commercial review is late: it should take 24 hours, and has been open since ….",
          "thread: Rob, Tess mentioned, slack, at once: The technical review is late: it should take 24 hours, and has been open since ….",
          "reminded: Cora, in-app, at once: A review is waiting for you",
          "reminded: Cora, slack, within seconds: A review is waiting for you",
          "reminded: Rob, in-app, at once: A review is waiting for you",
          "group: Infra, slack, within seconds: A review is waiting for you",
          "reminded: Tess, in-app, at once: A review is waiting for you",
          "reminded: Tim, in-app, at once: A review is waiting for you",
        ],
      },
      {
        happens: "Tess approves the technical review",
        told: [
          "thread: nobody mentioned, slack, at once: Tess approved the technical review. The commercial review is still open.",
          "requester: Rita, in-app, at once: Tess approved the technical review. The commercial review is still open.",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "group: Infra, slack, within seconds: No longer needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "Cora approves the commercial review",
        told: [
          "thread: Cora mentioned, slack, at once: Cora approved the commercial review. The customer has until … to pay USD 1,200.00 a month.",
          "requester: Rita, in-app, at once: Cora approved the commercial review. The customer has until … to pay USD 1,200.00 a month.",
          "customer: the customer, email, at once: Please review and pay: 4 × 32XL in us-east-1",
        ],
      },
    ],
  },
  {
    title: "A group whose channel has the thread",
    about:
      "The thread tells the group, and nothing is said beside it; reminders, which the thread does not repeat, are.",
    slack: true,
    groupChannel: "C0CAPACITY",
    steps: [
      {
        happens: "Rita submits it",
        told: [
          "thread: Cora, Rob, Tess mentioned, slack, at once: 4 × 32XL in us-east-1 (under review). Rita asks for 4 × 32XL in us-east-1.",
          "asked: Cora, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Rob, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tess, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, email, within seconds: Your decision is needed: 4 × 32XL in us-east-1",
          "asked: Tim, in-app, at once: Your decision is needed: 4 × 32XL in us-east-1",
        ],
      },
      {
        happens: "a day and an hour pass",
        told: [
          "thread: Cora mentioned, slack, at once: The commercial review is late: it should take 24 hours, and has been open since ….",
          "thread: Rob, Tess mentioned, slack, at once: The technical review is late: it should take 24 hours, and has been open since ….",
          "reminded: Cora, in-app, at once: A review is waiting for you",
          "reminded: Cora, slack, within seconds: A review is waiting for you",
          "reminded: Rob, in-app, at once: A review is waiting for you",
          "group: Infra, slack, within seconds: A review is waiting for you",
          "reminded: Tess, in-app, at once: A review is waiting for you",
          "reminded: Tim, in-app, at once: A review is waiting for you",
        ],
      },
      {
        happens: "Tess rejects the technical review",
        told: [
          "thread: Rita mentioned, slack, at once: Tess rejected the request in the technical review.",
          "requester: Rita, in-app, at once: Tess rejected the request in the technical review.",
          "no longer asked: Cora, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Rob, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, email, within seconds: No longer needed: 4 × 32XL in us-east-1",
          "no longer asked: Tim, in-app, at once: No longer needed: 4 × 32XL in us-east-1",
        ],
      },
    ],
  },
];
