// Economic event codes: Australia.

/** Code to what it means (spec 2.9). */
export const auEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_QOQ: 'Consumer prices: change over the quarter before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over the same quarter of the year before.',
  INFLATION_RATE_MONTHLY_YOY: 'Consumer prices by month: change over a year.',
  INFLATION_RATE_TRIMMED_MEAN_QOQ:
    'Consumer prices without the largest rises and falls, which the Reserve Bank watches: change over the quarter before.',
  INFLATION_RATE_TRIMMED_MEAN_YOY:
    'Consumer prices without the largest rises and falls, which the Reserve Bank watches: change over a year.',
  INFLATION_PPI_HEADLINE_QOQ: 'Producer prices of final demand: change over the quarter before.',
  INFLATION_EXPECTATIONS_MELBOURNE_INSTITUTE:
    'Inflation that consumers expect for the year ahead, by the Melbourne Institute.',
  EMPLOYMENT_EMPLOYMENT_CHANGE: 'Change in the number of people in work, over the month.',
  EMPLOYMENT_FULL_TIME_CHANGE: 'Change in the number of people in full-time work, over the month.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is without work and looks for it.',
  EMPLOYMENT_PARTICIPATION_RATE: 'Share of the adult population that works or looks for work.',
  EMPLOYMENT_WAGE_PRICE_INDEX_QOQ: 'Pay for the same work: change over the quarter before.',
  EMPLOYMENT_WAGE_PRICE_INDEX_YOY: 'Pay for the same work: change over a year.',
  EMPLOYMENT_JOB_ADVERTISEMENTS_MOM:
    'Job advertisements counted by ANZ and Indeed: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Retail sales: change over the month before.',
  CONSUMPTION_HOUSEHOLD_SPENDING_MOM:
    'What households spend, by the Bureau of Statistics: change over the month before.',
  CONSUMPTION_CONSUMER_CONFIDENCE_WESTPAC:
    "Westpac's and the Melbourne Institute's survey of consumers; above 100 more are hopeful than not.",
  BUSINESS_CONFIDENCE_NAB:
    "National Australia Bank's survey of what companies expect; above 0 more are hopeful than not.",
  BUSINESS_CONDITIONS_NAB:
    "National Australia Bank's survey of how business is; above 0 more call it good than bad.",
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_CAPITAL_EXPENDITURE_QOQ:
    'What private companies invest in buildings and equipment: change over the quarter before.',
  BUSINESS_COMPANY_PROFITS_QOQ: 'Gross operating profits of companies: change over the quarter before.',
  HOUSING_BUILDING_APPROVALS_MOM: 'Homes whose building was approved: change over the month before.',
  HOUSING_HOME_LOANS_MOM: 'New loans for homes: change over the month before.',
  HOUSING_CONSTRUCTION_WORK_DONE_QOQ: 'Construction work done: change over the quarter before.',
  HOUSING_PRICE_INDEX_MOM: 'Prices of homes, by Cotality (before: CoreLogic): change over the month before.',
  TRADE_BALANCE: 'Exports of goods less imports in the month.',
  TRADE_EXPORTS_MOM: 'Exports of goods: change over the month before.',
  TRADE_IMPORTS_MOM: 'Imports of goods: change over the month before.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_TREASURY_BOND: 'Auction of Commonwealth government bonds: the average accepted yield.',
  POLITICAL_EVENT_FEDERAL_ELECTION: 'Election of the federal Parliament.',
  POLITICAL_EVENT_FEDERAL_BUDGET: "The Treasurer's budget speech.",
  RBA_POLICY_INTEREST_RATE_DECISION: "The Reserve Bank of Australia's decision on its cash rate target.",
  RBA_POLICY_STATEMENT: 'The statement of the Monetary Policy Board on its decision.',
  RBA_POLICY_PRESS_CONFERENCE: "The Governor's press conference after a decision.",
  RBA_POLICY_MEETING_MINUTES: 'Minutes of the last policy meeting, two weeks after it.',
  RBA_POLICY_STATEMENT_ON_MONETARY_POLICY:
    "The Reserve Bank's quarterly forecasts of growth, employment and inflation.",
  RBA_POLICY_FINANCIAL_STABILITY_REVIEW:
    "The Reserve Bank's half-yearly report on risks to the financial system.",
  RBA_POLICY_PRIVATE_CREDIT_MOM: 'Credit to households and companies: change over the month before.',
  RBA_SPEECH_GOVERNOR: 'Speech of the Governor of the Reserve Bank of Australia.',
  RBA_SPEECH_DEPUTY_GOVERNOR: 'Speech of the Deputy Governor or an Assistant Governor.',
};
